//! What is written is read back, and sizes are compared.
use forks_linalg::Matrix;

#[test]
fn matrices_are_read_back() {
    for m in [Matrix::from_fn(2, 3, |i, j| (3 * i + j) as f64), Matrix::zeros(0, 4)] {
        let text = serde_json::to_string(&m).unwrap();
        assert_eq!(serde_json::from_str::<Matrix>(&text).unwrap(), m, "{text}");
    }
}

/// A file may say anything; a matrix whose sizes disagree would panic at its first use.
#[test]
fn matrix_of_the_wrong_size_is_refused() {
    let text = r#"{"rows":2,"columns":2,"data":[1.0,2.0,3.0]}"#;
    let error = serde_json::from_str::<Matrix>(text).unwrap_err().to_string();
    assert!(error.contains("3 numbers for a 2×2 matrix"), "{error}");
}
