"""Soft bodies on mechanisms: finite elements of large deformation beside articulated skeletons.

A `TetMesh` (`load_mesh`, `box_mesh`) of a `Material` on a tree `Mechanism` is a `SoftSimulation`:
stepped, or moved to rest. Meshes of four nodes an element are too stiff in bending;
`TetMesh.quadratic` makes elements of ten.
"""

from forks._forks import Material, Rest, SoftSimulation, TetMesh, box_mesh, load_mesh

__all__ = ["Material", "Rest", "SoftSimulation", "TetMesh", "box_mesh", "load_mesh"]
