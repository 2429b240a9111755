//! Numbers that come in and go out. Arrays are float64 and C-contiguous; anything else is refused
//! with its name, shape and type, never converted by a guess. Lists of numbers are taken too.

use forks_mechanism::{lie::Pose, linalg::Matrix};
use numpy::{
    IntoPyArray as _, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn,
    PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods as _,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyList, PyTuple},
};

/// Numbers that came in: an array as it is, or a list that was read.
pub(crate) enum Input<'py> {
    /// No copy.
    Array(PyReadonlyArrayDyn<'py, f64>),
    /// A list, a tuple, or lists of these.
    List(Vec<f64>),
}

impl<'py> Input<'py> {
    /// Finite numbers of a shape.
    pub(crate) fn new(name: &str, x: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        let input = Self::any(name, x, shape)?;
        input.finite(name, shape)?;
        Ok(input)
    }

    /// Numbers of a shape, finite or not.
    pub(crate) fn any(name: &str, x: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        if let Ok(array) = x.cast::<PyArrayDyn<f64>>() {
            check_shape(name, array.shape(), shape)?;
            if !array.is_c_contiguous() {
                return Err(not_contiguous(name, array.shape()));
            }
            let array = array
                .try_readonly()
                .map_err(|_| PyValueError::new_err(format!("{name} is being written elsewhere")))?;
            return Ok(Self::Array(array));
        }
        wrong_dtype(name, x)?;
        let mut numbers = Vec::with_capacity(shape.iter().product());
        let found = flatten(name, x, &mut numbers)?;
        check_shape(name, &found, shape)?;
        Ok(Self::List(numbers))
    }

    /// The numbers, row after row.
    pub(crate) fn as_slice(&self) -> &[f64] {
        match self {
            // It was found to be contiguous.
            Self::Array(a) => a.as_slice().unwrap_or_default(),
            Self::List(list) => list,
        }
    }

    fn finite(&self, name: &str, shape: &[usize]) -> PyResult<()> {
        let numbers = self.as_slice();
        // Without a branch per number.
        if !numbers.iter().fold(false, |found, x| found | !x.is_finite()) {
            return Ok(());
        }
        let i = numbers.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(PyValueError::new_err(format!(
            "{name}{} is {}; numbers must be finite",
            place(i, shape),
            numbers[i]
        )))
    }
}

/// Where a flat index is in an array of a shape: `[1, 3]`.
fn place(mut i: usize, shape: &[usize]) -> String {
    let mut indices: Vec<usize> = shape.to_vec();
    for (index, size) in indices.iter_mut().zip(shape).rev() {
        *index = i % size;
        i /= size;
    }
    format!("{indices:?}")
}

/// A shape as Python prints it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn check_shape(name: &str, found: &[usize], expected: &[usize]) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} has shape {}, expected {}",
        tuple(found),
        tuple(expected)
    )))
}

fn not_contiguous(name: &str, shape: &[usize]) -> PyErr {
    PyValueError::new_err(format!(
        "{name} of shape {} is not C-contiguous; numpy.ascontiguousarray makes a copy that is",
        tuple(shape)
    ))
}

/// An array that is not one of float64.
fn wrong_dtype(name: &str, x: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(array) = x.cast::<PyUntypedArray>() else { return Ok(()) };
    Err(PyTypeError::new_err(format!(
        "{name} of shape {} has dtype {}, expected float64",
        tuple(array.shape()),
        array.dtype()
    )))
}

/// Reads nested lists of numbers; returns their shape.
fn flatten(name: &str, x: &Bound<'_, PyAny>, out: &mut Vec<f64>) -> PyResult<Vec<usize>> {
    if !x.is_instance_of::<PyList>() && !x.is_instance_of::<PyTuple>() {
        wrong_dtype(name, x)?;
        let wrong = || {
            let kind = x.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
            PyTypeError::new_err(format!(
                "{name} holds a {kind}, expected numbers: an array of float64 or lists"
            ))
        };
        out.push(x.extract::<f64>().map_err(|_| wrong())?);
        return Ok(vec![]);
    }
    let (mut count, mut inner) = (0, None);
    for item in x.try_iter()? {
        let shape = flatten(name, &item?, out)?;
        if *inner.get_or_insert_with(|| shape.clone()) != shape {
            return Err(PyValueError::new_err(format!("{name} has rows of different lengths")));
        }
        count += 1;
    }
    let mut shape = vec![count];
    shape.extend(inner.unwrap_or_default());
    Ok(shape)
}

/// Room for results: the array given as `out`, or a new one.
pub(crate) fn room<'py>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let Some(x) = out else {
        return Ok(PyArrayDyn::zeros(py, shape, false));
    };
    let Ok(array) = x.cast::<PyArrayDyn<f64>>() else {
        wrong_dtype("out", x)?;
        return Err(PyTypeError::new_err("out must be an array of float64"));
    };
    check_shape("out", array.shape(), shape)?;
    if !array.is_c_contiguous() {
        return Err(not_contiguous("out", array.shape()));
    }
    Ok(array.clone())
}

/// The numbers of an array, to be written.
pub(crate) fn writing<'py>(
    array: &Bound<'py, PyArrayDyn<f64>>,
) -> PyResult<PyReadwriteArrayDyn<'py, f64>> {
    array.try_readwrite().map_err(|e| {
        let shape = tuple(array.shape());
        PyValueError::new_err(match e {
            numpy::BorrowError::NotWriteable => format!("out of shape {shape} is read-only"),
            _ => format!("out of shape {shape} is in use elsewhere"),
        })
    })
}

/// A new array of one dimension.
pub(crate) fn vector<'py>(py: Python<'py>, x: &[f64]) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_slice(py, x)
}

/// A new array of rows.
pub(crate) fn matrix<'py>(py: Python<'py>, m: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    m.as_slice().to_vec().into_pyarray(py).reshape([m.rows(), m.columns()])
}

/// A new array, one pose a row: x, y, z, qw, qx, qy, qz.
pub(crate) fn poses<'py>(py: Python<'py>, poses: &[Pose]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let numbers: Vec<f64> = poses.iter().flat_map(Pose::to_array).collect();
    numbers.into_pyarray(py).reshape([poses.len(), 7])
}
