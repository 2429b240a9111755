//! Numbers that come in and go out. Arrays are float64 and C-contiguous; anything else is refused
//! with its name, shape and type, never converted by a guess. Lists of numbers are taken too.

use std::fmt;

use forks_mechanism::{
    lie::{Pose, Wrench},
    linalg::{
        Matrix,
        simd::{Arithmetic, Isa, Kernel, all_finite},
    },
};
use numpy::{
    IntoPyArray as _, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn,
    PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods as _,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyTuple},
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

    /// Finite numbers, so many columns and any number of rows.
    pub(crate) fn rows(name: &str, x: &Bound<'py, PyAny>, columns: usize) -> PyResult<Self> {
        let input = Self::read(name, x, |found| match found {
            [_, c] if *c == columns => Ok(()),
            _ => Err(wrong_shape(name, found, &format!("(rows, {columns})"))),
        })?;
        let rows = input.as_slice().len() / columns.max(1);
        input.finite(name, &[rows, columns])?;
        Ok(input)
    }

    /// Numbers of a shape, finite or not.
    pub(crate) fn any(name: &str, x: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Self> {
        Self::read(name, x, |found| check_shape(name, found, shape))
    }

    /// Numbers of a shape that is fit.
    fn read(
        name: &str,
        x: &Bound<'py, PyAny>,
        fits: impl Fn(&[usize]) -> PyResult<()>,
    ) -> PyResult<Self> {
        if let Ok(array) = x.cast::<PyArrayDyn<f64>>() {
            fits(array.shape())?;
            if !array.is_c_contiguous() {
                return Err(not_contiguous(name, array.shape()));
            }
            let array = array
                .try_readonly()
                .map_err(|_| PyValueError::new_err(format!("{name} is being written elsewhere")))?;
            return Ok(Self::Array(array));
        }
        wrong_dtype(name, x)?;
        let mut numbers = Vec::new();
        let found = flatten(name, x, &mut numbers)?;
        fits(&found)?;
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
        if Isa::detect().run(AllFinite(numbers)) {
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

/// Looks at all numbers, four at once.
struct AllFinite<'a>(&'a [f64]);

impl Kernel for AllFinite<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Arithmetic>(self, l: L) -> bool {
        all_finite(l, self.0)
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
    Err(wrong_shape(name, found, &tuple(expected)))
}

fn wrong_shape(name: &str, found: &[usize], expected: &str) -> PyErr {
    let found = tuple(found);
    PyValueError::new_err(format!("{name} has shape {found}, expected {expected}"))
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

/// N numbers.
pub(crate) fn numbers<const N: usize>(name: &str, x: &Bound<'_, PyAny>) -> PyResult<[f64; N]> {
    let input = Input::new(name, x, &[N])?;
    let mut out = [0.0; N];
    out.copy_from_slice(input.as_slice());
    Ok(out)
}

/// A wrench of six numbers: force, torque.
pub(crate) fn wrench(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Wrench> {
    numbers(name, x).map(Wrench::from_array)
}

/// A pose of seven numbers; the quaternion is scaled to length 1.
pub(crate) fn pose(name: &str, x: &Bound<'_, PyAny>) -> PyResult<Pose> {
    pose_of(name, numbers(name, x)?)
}

/// A pose from x, y, z, qw, qx, qy, qz; the quaternion is scaled to length 1.
pub(crate) fn pose_of(name: &str, mut numbers: [f64; 7]) -> PyResult<Pose> {
    let length = numbers[3..].iter().fold(0.0f64, |s, x| s.hypot(*x));
    if length == 0.0 {
        return Err(PyValueError::new_err(format!("{name} has a quaternion of length zero")));
    }
    numbers[3..].iter_mut().for_each(|x| *x /= length);
    Ok(Pose::from_array(numbers))
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

/// A new array, one pose a row: x, y, z, qw, qx, qy, qz.
pub(crate) fn poses<'py>(py: Python<'py>, poses: &[Pose]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let numbers: Vec<f64> = poses.iter().flat_map(Pose::to_array).collect();
    numbers.into_pyarray(py).reshape([poses.len(), 7])
}

/// An array that is made when it is asked for and then given to everybody: read-only.
pub(crate) struct Shared(PyOnceLock<Py<PyArrayDyn<f64>>>);

impl Default for Shared {
    fn default() -> Self {
        Self(PyOnceLock::new())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared(..)")
    }
}

impl Shared {
    /// The array, of a shape.
    pub(crate) fn get<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
        make: impl FnOnce() -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let array = self.0.get_or_try_init(py, || {
            let array = make().into_pyarray(py).reshape(shape)?;
            array.readwrite().make_nonwriteable();
            PyResult::Ok(array.unbind())
        })?;
        Ok(array.bind(py).clone())
    }

    /// The same of a matrix.
    pub(crate) fn matrix<'py>(
        &self,
        py: Python<'py>,
        m: &Matrix,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.get(py, &[m.rows(), m.columns()], || m.as_slice().to_vec())
    }

    /// The same of poses, one a row: x, y, z, qw, qx, qy, qz.
    pub(crate) fn poses<'py>(
        &self,
        py: Python<'py>,
        poses: &[Pose],
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.get(py, &[poses.len(), 7], || poses.iter().flat_map(Pose::to_array).collect())
    }
}

/// Energies in J, by name.
pub(crate) fn energies(py: Python<'_>, energies: [f64; 3]) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, e) in ["kinetic", "gravitational", "elastic"].into_iter().zip(energies) {
        out.set_item(name, e)?;
    }
    Ok(out)
}
