//! The pictures of a run: figures, heat maps and strips of a memory.

use crate::canvas::{Canvas, Drawing};
use crate::figure::Figure;
use crate::heat::HeatMap;
use crate::strip::Strips;

/// A picture of a run.
pub(crate) enum Picture {
    Figure(Figure),
    HeatMap(HeatMap),
    Strips(Strips),
}

impl Picture {
    /// File name without ending.
    pub(crate) fn name(&self) -> &str {
        match self {
            Picture::Figure(figure) => &figure.name,
            Picture::HeatMap(map) => &map.name,
            Picture::Strips(strips) => &strips.name,
        }
    }

    /// What it shows, in words.
    pub(crate) fn words(&self) -> String {
        let (title, subtitle) = match self {
            Picture::Figure(figure) => (&figure.title, &figure.subtitle),
            Picture::HeatMap(map) => (&map.title, &map.subtitle),
            Picture::Strips(strips) => (&strips.title, &strips.subtitle),
        };
        if subtitle.is_empty() { title.clone() } else { format!("{title}, {subtitle}") }
    }
}

impl Drawing for Picture {
    fn draw(&self, canvas: &mut Canvas) {
        match self {
            Picture::Figure(figure) => figure.draw(canvas),
            Picture::HeatMap(map) => map.draw(canvas),
            Picture::Strips(strips) => strips.draw(canvas),
        }
    }
}
