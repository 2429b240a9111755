//! Condensation against dense algebra, differences of full equilibria, and closed forms.

mod dynamics;
mod files;
mod finger;
mod generated;
mod limits;
mod loaded;
mod notch;
mod skins;
mod support;
