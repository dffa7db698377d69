//! The pictures of a run: figures, heat maps, stacked bars and strips of a memory.

use crate::canvas::{Canvas, Drawing};
use crate::figure::Figure;
use crate::heat::HeatMap;
use crate::stacks::Stacks;
use crate::strip::Strips;

/// A picture of a run.
pub(crate) enum Picture {
    Figure(Figure),
    HeatMap(HeatMap),
    Stacks(Stacks),
    Strips(Strips),
}

impl Picture {
    /// File name without ending.
    pub(crate) fn name(&self) -> &str {
        match self {
            Picture::Figure(figure) => &figure.name,
            Picture::HeatMap(map) => &map.name,
            Picture::Stacks(stacks) => &stacks.name,
            Picture::Strips(strips) => &strips.name,
        }
    }

    /// The file name of the same picture as time passes, for a picture of what happens in time.
    pub(crate) fn moving(&self) -> Option<String> {
        matches!(self, Picture::Strips(_)).then(|| format!("{}-moving.svg", self.name()))
    }

    /// Whether the page has a chart of the same.
    pub(crate) fn has_chart(&self) -> bool {
        match self {
            Picture::Figure(_) | Picture::HeatMap(_) => true,
            Picture::Stacks(_) | Picture::Strips(_) => false,
        }
    }

    /// What it shows, in words.
    pub(crate) fn words(&self) -> String {
        let (title, subtitle) = match self {
            Picture::Figure(figure) => (&figure.title, &figure.subtitle),
            Picture::HeatMap(map) => (&map.title, &map.subtitle),
            Picture::Stacks(stacks) => (&stacks.title, &stacks.subtitle),
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
            Picture::Stacks(stacks) => stacks.draw(canvas),
            Picture::Strips(strips) => strips.draw(canvas),
        }
    }
}
