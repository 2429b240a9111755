//! Addresses of files beside a file.

/// The name with `%20` and the like as the bytes that they mean.
pub(crate) fn decoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let hex = |at: usize| -> Option<u8> {
        let digit = |b: u8| char::from(b).to_digit(16);
        let [high, low]: [u8; 2] = bytes.get(at + 1..at + 3)?.try_into().ok()?;
        u8::try_from(16 * digit(high)? + digit(low)?).ok()
    };
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at] == b'%').then(|| hex(at)).flatten() {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_are_bytes_and_other_percent_signs_stay() {
        assert_eq!(decoded("left%20arm.bin"), "left arm.bin");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%C3%A9%zz%+1"), "é%zz%+1");
        assert_eq!(decoded("%ff"), "%ff");
    }
}
