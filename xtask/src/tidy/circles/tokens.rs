//! Rust text as tokens: names, `::` and single signs. Comments, literals and code that only tests
//! compile are left out.

/// A token and its line, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

impl Token {
    /// True for a name or a keyword.
    pub(super) fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a file, without items under `#[cfg(test)]`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    without_tests(&all(text))
}

/// The modules that the file declares for tests alone.
pub(super) fn test_modules(text: &str) -> Vec<String> {
    let tokens = all(text);
    let tests = (0..tokens.len()).filter(|&i| opens_test(&tokens[i..]));
    let after = tests.map(|i| &tokens[i + TEST.len()..]);
    let declared = after.filter(|t| t.len() > 2 && t[0].text == "mod" && t[2].text == ";");
    declared.map(|t| t[1].text.clone()).collect()
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn opens_test(tokens: &[Token]) -> bool {
    tokens.len() > TEST.len() && TEST.iter().zip(tokens).all(|(a, b)| *a == b.text)
}

fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if opens_test(&tokens[at..]) {
            at = end_of_item(tokens, at + TEST.len());
        } else {
            out.push(tokens[at].clone());
            at += 1;
        }
    }
    out
}

/// The place after the item that begins at `at`: its semicolon or closing brace.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            _ => (),
        }
        at += 1;
    }
    at
}

fn all(text: &str) -> Vec<Token> {
    let mut rest = Rest { chars: text.chars().collect(), at: 0, line: 1 };
    let mut out = Vec::new();
    while let Some(c) = rest.peek(0) {
        let line = rest.line;
        let begin = rest.at;
        match (c, rest.peek(1)) {
            ('/', Some('/')) => rest.skip_while(|c| c != '\n'),
            ('/', Some('*')) => rest.skip_comment(),
            ('"', _) => rest.skip_string(),
            ('r', Some('"' | '#')) | ('b', Some('r')) if rest.opens_raw() => rest.skip_raw(),
            ('b', Some('"')) => {
                rest.next();
                rest.skip_string();
            }
            ('\'', _) => rest.skip_quote(),
            (':', Some(':')) => {
                rest.next();
                rest.next();
                out.push(Token { text: "::".into(), line });
            }
            _ if c.is_alphanumeric() || c == '_' => {
                rest.skip_while(|c| c.is_alphanumeric() || c == '_');
                out.push(Token { text: rest.chars[begin..rest.at].iter().collect(), line });
            }
            _ => {
                rest.next();
                if !c.is_whitespace() {
                    out.push(Token { text: c.into(), line });
                }
            }
        }
    }
    out
}

/// What of the text is still to be read.
struct Rest {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Rest {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn skip_while(&mut self, goes_on: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&goes_on) {
            self.next();
        }
    }

    /// Block comments nest.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.next(), self.peek(0)) {
                (Some('/'), Some('*')) => {
                    self.next();
                    depth += 1;
                }
                (Some('*'), Some('/')) => {
                    self.next();
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                (None, _) => return,
                _ => (),
            }
        }
    }

    fn skip_string(&mut self) {
        self.next();
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '"' => return,
                _ => (),
            }
        }
    }

    /// True at `r"`, `r#"`, `br"`, …; not at a raw name like `r#type`.
    fn opens_raw(&self) -> bool {
        let mut ahead = if self.peek(0) == Some('b') { 2 } else { 1 };
        while self.peek(ahead) == Some('#') {
            ahead += 1;
        }
        self.peek(ahead) == Some('"')
    }

    fn skip_raw(&mut self) {
        self.skip_while(|c| c == 'b' || c == 'r');
        let begin = self.at;
        self.skip_while(|c| c == '#');
        let hashes = self.at - begin;
        self.next();
        while let Some(c) = self.next() {
            if c == '"' && (0..hashes).all(|i| self.peek(i) == Some('#')) {
                self.at += hashes;
                return;
            }
        }
    }

    /// A character or the sign of a lifetime, whose name then follows as a token.
    fn skip_quote(&mut self) {
        self.next();
        if self.peek(0) == Some('\\') {
            self.next();
            self.next();
            self.skip_while(|c| c != '\'');
            self.next();
        } else if self.peek(1) == Some('\'') {
            self.next();
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn names_paths_and_signs_are_tokens() {
        assert_eq!(texts("a::b_1(&c)"), ["a", "::", "b_1", "(", "&", "c", ")"]);
        assert_eq!(tokens("a\n\nb")[1].line, 3);
    }

    #[test]
    fn comments_and_literals_are_not() {
        let text = r####"x // y::z
            /* a /* b */ c */ "s\"::t" r#"u"v"# b"w" br"x" '\'' 'q' '"' 'static r2 2"####;
        assert_eq!(texts(text), ["x", "static", "r2", "2"]);
    }

    #[test]
    fn code_of_tests_is_left_out() {
        let text = "a; #[cfg(test)] mod tests { b { c } } d #[cfg(test)] mod more; e";
        assert_eq!(texts(text), ["a", ";", "d", "e"]);
        assert_eq!(test_modules(text), ["more"]);
    }
}
