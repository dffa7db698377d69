//! What waits in a shared memory through one burst, drawn as a strip for each policy.

use tailcut_results::number::significant;

use crate::canvas::{Across, Canvas, Colour, Drawing, HEIGHT, INK, PALE_INK, Up, WIDTH, text_width};
use crate::style::{Marker, colour};

/// Colour of the ports that have none of their own, of the axes, and of dropped packets.
const OTHERS: Colour = (190, 190, 190);
const AXIS: Colour = (120, 120, 120);
const DROPS: Colour = (200, 0, 0);

/// Strips of one switch, one above the other: the same time and the same scale in all.
pub(crate) struct Strips {
    /// File name without ending.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The ports that have a colour of their own, by name. The first is that of the burst, which is lowest in the
    /// stack, so that its threshold is read against it.
    pub(crate) ports: Vec<String>,
    /// When the strips begin and end, in ms.
    pub(crate) time: (f64, f64),
    /// How many times there are from the one to the other.
    pub(crate) times: usize,
    pub(crate) strips: Vec<Strip>,
}

/// Waiting bytes under one policy, at the times of all strips as long as they were sampled.
pub(crate) struct Strip {
    pub(crate) scheme: String,
    /// What waits in each of the named ports, and last in all others, in MB, at each time.
    pub(crate) waiting: Vec<Vec<f64>>,
    /// What the port of the burst may have, in MB, at each time; `None` where there is no end of it.
    pub(crate) threshold: Vec<Option<f64>>,
    /// Whether the switch dropped a packet between a time and the one before.
    pub(crate) dropped: Vec<bool>,
}

impl Strip {
    /// All that waits at a time.
    fn sum(&self, at: usize) -> f64 {
        self.waiting.iter().map(|port| port[at]).sum()
    }
}

impl Strips {
    /// The colour of the port at `index`.
    fn colour_of(&self, index: usize) -> Colour {
        if index < self.ports.len() { colour(index) } else { OTHERS }
    }

    /// What the largest strip needs, in MB.
    fn top(&self) -> f64 {
        let sums = self.strips.iter().flat_map(|strip| (0..strip.dropped.len()).map(|at| strip.sum(at)));
        sums.fold(f64::MIN_POSITIVE, f64::max)
    }

    fn legend(&self, canvas: &mut Canvas) {
        let (mut x, y) = (18.0, 42.0);
        let mut entry = |canvas: &mut Canvas, text: &str, draw: &dyn Fn(&mut Canvas, f64)| {
            draw(canvas, x);
            canvas.text(text, (x + 14.0, y), 10.5, INK, Across::Left, Up::Center);
            x += 26.0 + text_width(text, 10.5);
        };
        for (index, name) in self.ports.iter().map(String::as_str).chain(["other ports"]).enumerate() {
            let fill = self.colour_of(index);
            entry(canvas, name, &|canvas, x| {
                canvas.polygon([(x, y - 4.0), (x + 9.0, y - 4.0), (x + 9.0, y + 4.0), (x, y + 4.0)], fill);
            });
        }
        if let Some(first) = self.ports.first() {
            entry(canvas, &format!("threshold of the port {first}"), &|canvas, x| {
                canvas.line([(x, y), (x + 10.0, y)], INK, 1.6);
            });
        }
        entry(canvas, "drops", &|canvas, x| canvas.dot(Marker::Circle, (x + 5.0, y), 2.0, DROPS));
    }

    /// Draws a strip into the rectangle from `left`, `top` on.
    fn strip(&self, canvas: &mut Canvas, strip: &Strip, (left, top): (f64, f64), (width, height): (f64, f64)) {
        // A strip ends with its samples.
        let (times, scale) = (strip.dropped.len(), self.top() * 1.3);
        let bottom = top + height;
        let x = |at: usize| left + width * at as f64 / (self.times.saturating_sub(1)).max(1) as f64;
        let y = |value: f64| bottom - height * (value / scale).min(1.0);
        let mut below = vec![0.0; times];
        for (index, port) in strip.waiting.iter().enumerate() {
            let above: Vec<f64> = below.iter().zip(port).map(|(below, value)| below + value).collect();
            if above != below {
                let over = above.iter().enumerate().map(|(at, &value)| (x(at), y(value)));
                let back = below.iter().enumerate().rev().map(|(at, &value)| (x(at), y(value)));
                canvas.polygon(over.chain(back), self.colour_of(index));
            }
            below = above;
        }
        // A threshold beyond the strip is not drawn along its edge.
        let mut line = Vec::new();
        for (at, threshold) in strip.threshold.iter().enumerate() {
            match threshold.filter(|value| *value <= scale) {
                Some(value) => line.push((x(at), y(value))),
                None => canvas.line(std::mem::take(&mut line), INK, 1.4),
            }
        }
        canvas.line(line, INK, 1.4);
        for at in (0..times).filter(|&at| strip.dropped[at]) {
            canvas.dot(Marker::Circle, (x(at), y(below[at])), 1.6, DROPS);
        }
        canvas.curtain((left, top - 2.0), (width + 2.0, height + 2.0));
        canvas.line([(left, top), (left, bottom), (left + width, bottom)], AXIS, 1.0);
        canvas.text(&strip.scheme, (left + width - 3.0, top + 3.0), 11.0, INK, Across::Right, Up::Top);
        for value in [0.0, self.top()] {
            let label = significant(value, 2);
            canvas.text(&label, (left - 5.0, y(value)), 9.5, PALE_INK, Across::Right, Up::Center);
        }
    }
}

impl Drawing for Strips {
    fn draw(&self, canvas: &mut Canvas) {
        canvas.title(&self.title, &self.subtitle);
        self.legend(canvas);
        let columns = if self.strips.len() > 3 { 2 } else { 1 };
        let rows = self.strips.len().div_ceil(columns).max(1);
        let (top, bottom) = (58.0, HEIGHT - 42.0);
        let room = ((WIDTH - 36.0) / columns as f64, (bottom - top) / rows as f64);
        for (nth, strip) in self.strips.iter().enumerate() {
            // Down the first column, then down the second.
            let (column, row) = (nth / rows, nth % rows);
            let corner = (48.0 + room.0 * column as f64, top + room.1 * row as f64);
            self.strip(canvas, strip, corner, (room.0 - 40.0, room.1 - 9.0));
        }
        for column in 0..columns {
            let left = 48.0 + room.0 * column as f64;
            let ends = [(left, self.time.0, Across::Left), (left + room.0 - 40.0, self.time.1, Across::Right)];
            for (at, time, across) in ends {
                canvas.text(&significant(time, 4), (at, bottom - 2.0), 9.5, PALE_INK, across, Up::Top);
            }
        }
        canvas.text("time, ms", (WIDTH / 2.0, HEIGHT - 11.0), 12.0, INK, Across::Center, Up::Bottom);
        canvas.upward("waiting, MB", (12.0, (top + bottom) / 2.0), 12.0, INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::write_moving;
    use crate::picture::Picture;

    /// Every strip is uncovered at the same pace, and the still picture has nothing in the way.
    #[test]
    fn time_passes_in_all_strips_of_a_moving_picture_at_once() {
        let strip = |scheme: &str| Strip {
            scheme: scheme.to_owned(),
            waiting: vec![vec![0.0, 1.0, 0.5], vec![0.0, 0.5, 0.0]],
            threshold: vec![Some(1.0), None, Some(0.7)],
            dropped: vec![false, true, false],
        };
        let strips = Picture::Strips(Strips {
            name: "memory".to_owned(),
            title: "one burst".to_owned(),
            subtitle: String::new(),
            ports: vec!["leaf0->host3".to_owned()],
            time: (1.0, 2.0),
            times: 3,
            strips: ["dt", "edt", "fab", "smartbuf"].map(strip).into(),
        });
        assert_eq!(strips.moving().as_deref(), Some("memory-moving.svg"));
        let folder = tempfile::tempdir().unwrap();
        let [moving, still, png] = ["moving.svg", "still.svg", "still.png"].map(|name| folder.path().join(name));
        write_moving(&strips, &moving).unwrap();
        crate::canvas::write(&[&strips], &still, &png).unwrap();
        let [moving, still] = [moving, still].map(|path| std::fs::read_to_string(path).unwrap());
        let curtains: Vec<&str> = moving.lines().filter(|line| line.contains("<animate")).collect();
        assert_eq!(curtains.len(), 4);
        assert!(curtains.iter().all(|line| line.matches("dur=\"10s\"").count() == 2), "{curtains:?}");
        let without: Vec<&str> = moving.lines().filter(|line| !line.contains("<animate")).collect();
        assert_eq!(without, still.lines().collect::<Vec<_>>());
    }
}
