//! Text files of a size that can be meant.

use std::{fs::File, io::Read as _, path::Path};

use crate::ImportError;

/// Files above this are refused: the largest models in use have a few megabytes, and a tree of
/// elements takes some ten times the memory of its text.
pub(crate) const LARGEST: u64 = 64 << 20;

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, ImportError> {
    let file = path.display().to_string();
    let failed = |source| ImportError::Io { file: file.clone(), source };
    let opened = File::open(path).map_err(failed)?;
    let size = opened.metadata().map_err(failed)?.len();
    let too_large = || ImportError::TooLarge { file: file.clone(), limit: LARGEST };
    if size > LARGEST {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // Pipes and devices do not say how long they are.
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    String::from_utf8(bytes)
        .map_err(|e| ImportError::NotText { file, offset: e.utf8_error().valid_up_to() })
}
