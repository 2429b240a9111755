//! Numbers on the command line.

pub(crate) fn wrench(s: &str) -> Result<[f64; 6], String> {
    let parts: Vec<&str> = s.split(',').collect();
    if parts.len() != 6 {
        return Err(format!("a wrench is six numbers fx,fy,fz,tx,ty,tz, not {}", parts.len()));
    }
    let mut out = [0.0; 6];
    for (x, part) in out.iter_mut().zip(parts) {
        let number: f64 = part.trim().parse().map_err(|e| format!("'{part}': {e}"))?;
        if !number.is_finite() {
            return Err(format!("'{part}' is not a finite number"));
        }
        *x = number;
    }
    Ok(out)
}

pub(crate) fn duration(s: &str) -> Result<f64, String> {
    match s.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        Ok(_) => Err("expected a finite number above 0".into()),
        Err(e) => Err(e.to_string()),
    }
}

pub(crate) fn coefficient(s: &str) -> Result<f64, String> {
    match s.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        Ok(_) => Err("expected a finite number that is not negative".into()),
        Err(e) => Err(e.to_string()),
    }
}

pub(crate) fn rayleigh(s: &str) -> Result<(f64, f64), String> {
    let (a, b) = s.split_once(',').ok_or("expected two numbers A,B")?;
    Ok((coefficient(a)?, coefficient(b)?))
}

/// A name and a number above 0.
pub(crate) fn per_name(s: &str) -> Result<(String, f64), String> {
    let (name, value) = s.rsplit_once('=').ok_or("expected NAME=NUMBER")?;
    Ok((name.into(), duration(value)?))
}

pub(crate) fn count(s: &str) -> Result<usize, String> {
    match s.parse::<usize>() {
        Ok(0) => Err("expected a number above 0".into()),
        other => other.map_err(|e| e.to_string()),
    }
}

pub(crate) fn stiffness(s: &str) -> Result<f64, String> {
    match s.parse::<f64>() {
        Ok(k) if k.is_finite() && k >= 0.0 => Ok(k),
        Ok(_) => Err("a stiffness is a finite number and not negative".into()),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrench_is_six_finite_numbers() {
        assert_eq!(wrench("1,-2, 3,0,0,1e-3"), Ok([1.0, -2.0, 3.0, 0.0, 0.0, 1e-3]));
        for bad in ["", "1,2,3", "1,2,3,4,5,6,7", "1,2,3,4,5,x", "nan,0,0,0,0,0", "0,0,0,0,0,inf"] {
            assert!(wrench(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_and_counts_are_positive() {
        assert_eq!(duration("0.001"), Ok(0.001));
        for bad in ["0", "-1", "nan", "inf", "x"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert_eq!(count("3"), Ok(3));
        assert!(count("0").is_err() && count("-1").is_err());
    }

    #[test]
    fn a_stiffness_is_finite_and_not_negative() {
        assert_eq!(stiffness("1e3"), Ok(1000.0));
        assert_eq!(stiffness("0"), Ok(0.0));
        for bad in ["-1", "nan", "inf", "", "1,5"] {
            assert!(stiffness(bad).is_err(), "{bad}");
        }
    }
}
