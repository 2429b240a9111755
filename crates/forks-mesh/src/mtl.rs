//! MTL: the materials of OBJ files, as far as they are colours.

use std::collections::HashMap;

use crate::painted::{Rgba, byte};

/// Diffuse colours (`Kd`) with opacity (`d`, or `Tr` turned round) by the names of materials.
/// Materials without a diffuse colour are left out; lines that cannot be understood too.
pub(crate) fn parse(bytes: &[u8]) -> HashMap<String, Rgba> {
    let text = String::from_utf8_lossy(bytes);
    let (mut out, mut name) = (HashMap::new(), String::new());
    let (mut colour, mut opacity) = (None, 1.0);
    let mut keep = |name: &str, colour: Option<[f64; 3]>, opacity: f64| {
        if let Some([r, g, b]) = colour {
            out.insert(name.to_owned(), [byte(r), byte(g), byte(b), byte(opacity)]);
        }
    };
    for line in text.lines() {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line, ""));
        let mut numbers = rest.split_whitespace().map_while(|w| w.parse::<f64>().ok());
        match word {
            "newmtl" => {
                keep(&name, colour, opacity);
                (name, colour, opacity) = (rest.trim().to_owned(), None, 1.0);
            }
            "Kd" => {
                let three: Vec<f64> = numbers.take(3).collect();
                colour = three.try_into().ok().or(colour);
            }
            "d" => opacity = numbers.next().unwrap_or(opacity),
            "Tr" => opacity = numbers.next().map_or(opacity, |t| 1.0 - t),
            _ => {}
        }
    }
    keep(&name, colour, opacity);
    out
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn colours_by_name() {
        let text = "# m\nnewmtl red one\nKa 1 1 1\nKd 1 0 0\nTr 0.5\nnewmtl bare\nnewmtl grey\n\
            Kd 0.5 0.5 0.5\nmap_Kd x.png\nd 0\n";
        let all = parse(text.as_bytes());
        assert_eq!(all.len(), 2);
        assert_eq!((all["red one"], all["grey"]), ([255, 0, 0, 128], [128, 128, 128, 0]));
    }
}
