//! No tag: every packet carries the highest priority.

use tailcut_model::seat::{Priority, Tag, TagView};

tailcut_model::no_parameters!(());

impl Tag for Model {
    fn tag(&mut self, _: &TagView) -> Priority {
        Priority::default()
    }
}
