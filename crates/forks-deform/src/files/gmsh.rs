//! Gmsh's `.msh`: the sections that both versions have.

use std::collections::HashMap;

use super::{FileError, gmsh_2, gmsh_4, gmsh_types::Names, raw::Raw, reader::Reader};

pub(super) fn parse(bytes: &[u8]) -> Result<Raw, FileError> {
    let mut r = Reader::new(bytes);
    let mut raw = Raw::default();
    r.skip_to("$MeshFormat")?;
    let version = r.word().ok_or(FileError::End { expected: "a version" })?.to_owned();
    let binary = r.number::<u64>("0 or 1")? == 1;
    let size = r.number::<u64>("the size of a number")?;
    if size != 8 {
        return Err(r.unexpected("8 bytes a number", &size.to_string()));
    }
    r.rest_of_line();
    if binary && r.int("the number 1")? != 1 {
        return Err(r.unexpected("numbers with the low byte first", "the other order"));
    }
    let four = match version.as_str() {
        "2.2" | "2" => false,
        "4.1" => true,
        _ => return Err(FileError::Version { version }),
    };
    let (mut names, mut entities) = (Names::new(), HashMap::new());
    while let Some(section) = r.word() {
        match section {
            "$PhysicalNames" => read_names(&mut r, &mut names)?,
            "$Entities" if four => entities = gmsh_4::entities(&mut r, binary)?,
            "$Nodes" if four => gmsh_4::nodes(&mut r, binary, &mut raw)?,
            "$Nodes" => gmsh_2::nodes(&mut r, binary, &mut raw)?,
            "$Elements" if four => {
                gmsh_4::elements(&mut r, binary, &names, &entities, &mut raw)?;
            }
            "$Elements" => gmsh_2::elements(&mut r, binary, &names, &mut raw)?,
            // Sections that end and those that are not needed; data in them may look like anything.
            other if other.starts_with("$End") || !other.starts_with('$') => {}
            _ => r.skip_to("$End")?,
        }
    }
    Ok(raw)
}

fn read_names(r: &mut Reader<'_>, names: &mut Names) -> Result<(), FileError> {
    for _ in 0..r.number::<u64>("a number of names")? {
        let key = (r.number("a dimension")?, r.number("a group's number")?);
        let name = r.rest_of_line();
        names.insert(key, name.trim_matches('"').to_owned());
    }
    Ok(())
}
