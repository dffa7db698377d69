//! Tables: published cells against measured ones.
//!
//! A row is found at the places whose coordinate has the name of the first column and the row's label as its value
//! (`load_pct` is a load in per cent). If no place has that coordinate, the label is asked for as part of the quantity:
//! "completion times: ABC". A column is a scheme if the claim compares schemes of that name; otherwise, and if there are
//! several such columns, its name is part of the quantity too: "completion times: ABC: mean".

use super::gather::{Gathered, Operand, pairs};
use super::resample::{Draw, bootstrap};
use super::shape::spearman;
use super::verdict::{Found, Limit, Number};
use super::{Band, Cell, Claim, Coordinate, Evidence, ExpectedTable, Measure, Place};

pub(crate) fn find(claim: &Claim, expected: &ExpectedTable, evidence: &dyn Evidence) -> Result<Found, String> {
    let near = &claim.tolerance.reproduced;
    if near.config_match.is_some() {
        configuration(claim, evidence)
    } else if near.tail_abs_err_pct.is_some() {
        improvements(claim, expected, evidence)
    } else if near.cell_low.is_some() {
        best_ratios(claim, expected, evidence)
    } else {
        cells(claim, expected, evidence)
    }
}

/// A published cell with what was measured of it.
struct Compared {
    name: String,
    row: usize,
    published: f64,
    quantity: (Operand, usize, Vec<usize>),
}

/// Numbers cell by cell.
fn cells(claim: &Claim, expected: &ExpectedTable, evidence: &dyn Evidence) -> Result<Found, String> {
    let measure = claim.measures().first().map(Measure::name).unwrap_or_default();
    let key = expected.columns.first().map(String::as_str).unwrap_or_default();
    let schemes: Vec<&String> = std::iter::once(&claim.subject).chain(&claim.baseline).collect();
    let swept = evidence.places().iter().any(|place| row_value(place, key).is_some());
    let several = expected.columns.len() > 2;
    // The quantity of each cell, and its place in the list of all.
    let (mut operands, mut measures): (Vec<Operand>, Vec<Measure>) = (Vec::new(), Vec::new());
    let mut wanted = Vec::new();
    for (row, cells) in expected.rows.iter().enumerate() {
        let label = cells.first().map(label).unwrap_or_default();
        for (column, cell) in cells.iter().enumerate().skip(1) {
            let Cell::Number(published) = cell else {
                return formulas(claim, evidence);
            };
            let head = &expected.columns[column];
            let scheme = schemes.iter().find(|scheme| **scheme == head);
            let mut name = measure.clone();
            if !swept {
                name += &format!(": {label}");
            }
            if scheme.is_none() && several {
                name += &format!(": {head}");
            }
            let operand = Operand::of(scheme.map_or(&claim.subject, |scheme| *scheme));
            let quantity = Measure::Plain(name);
            if !operands.contains(&operand) {
                operands.push(operand.clone());
            }
            if !measures.contains(&quantity) {
                measures.push(quantity.clone());
            }
            let at = measures.iter().position(|known| *known == quantity).unwrap_or_default();
            wanted.push((format!("{label}, {head}"), row, *published, operand, at, label.clone()));
        }
    }
    let gathered = Gathered::new(claim, evidence, operands, measures, &|_| true)?;
    let mut found = gathered.finding();
    let mut compared = Vec::new();
    let total = wanted.len();
    for (name, row, published, operand, at, label) in wanted {
        let places: Vec<usize> = (0..gathered.places.len())
            .filter(|&place| !swept || is_row(&gathered.places[place], key, &label))
            .filter(|&place| gathered.value(&operand, place, at, Draw::Measured).is_some())
            .collect();
        if !places.is_empty() {
            compared.push(Compared { name, row, published, quantity: (operand, at, places) });
        }
    }
    if compared.is_empty() {
        return Err("none of the cells of the table has been measured".into());
    }
    found.remarks[0] = format!("{} of {total} cells", compared.len());
    found.incomplete = (compared.len() < total && !swept).then(|| "the other cells were not measured".to_owned());
    compare(claim, &gathered, compared, &mut found)?;
    Ok(found)
}

/// The numbers of a table that its tolerance asks for.
fn compare(claim: &Claim, gathered: &Gathered, compared: Vec<Compared>, found: &mut Found) -> Result<(), String> {
    let (near, wide) = (&claim.tolerance.reproduced, &claim.tolerance.partly);
    let value = |cell: &Compared, draw: Draw<'_>| -> f64 {
        let (operand, at, places) = &cell.quantity;
        let all: Vec<f64> = places.iter().filter_map(|&place| gathered.value(operand, place, *at, draw)).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let published: Vec<f64> = compared.iter().map(|cell| cell.published).collect();
    let values = |draw: Draw<'_>| -> Vec<f64> { compared.iter().map(|cell| value(cell, draw)).collect() };
    let errors = |draw: Draw<'_>| -> Vec<f64> {
        values(draw).iter().zip(&published).map(|(value, published)| (value - published).abs()).collect()
    };
    if near.cells_within_factor.is_some() {
        let shares = normalised(claim, &compared, &value)?;
        for (band, limits) in [(near, &mut found.reproduced), (wide, &mut found.partly)] {
            let factor = band.cells_within_factor.unwrap_or(1.0);
            let share = |draw: Draw<'_>| shares(draw, factor);
            let interval = bootstrap(gathered.seeds, &|draw| vec![share(draw)])[0];
            limits.push(Limit::new(found.numbers.len(), band.min_fraction, None));
            found.numbers.push(Number {
                name: format!("the share of cells, each over the baseline in its row, within a factor of {factor}"),
                value: share(Draw::Measured),
                interval,
            });
        }
        return Ok(());
    }
    let mut add =
        |name: String, statistic: &dyn Fn(Draw<'_>) -> f64, bound: fn(&Band) -> (Option<f64>, Option<f64>)| {
            let interval = bootstrap(gathered.seeds, &|draw| vec![statistic(draw)])[0];
            let at = found.numbers.len();
            found.numbers.push(Number { name, value: statistic(Draw::Measured), interval });
            for (band, limits) in [(near, &mut found.reproduced), (wide, &mut found.partly)] {
                let (low, high) = bound(band);
                if low.is_some() || high.is_some() {
                    limits.push(Limit::new(at, low, high));
                }
            }
        };
    if near.mean_abs_err.is_some() {
        let mean = |draw: Draw<'_>| errors(draw).iter().sum::<f64>() / published.len() as f64;
        add("the mean distance of the cells from the published ones".into(), &mean, |band| (None, band.mean_abs_err));
    }
    if near.min_spearman.is_some() {
        let rank = |draw: Draw<'_>| spearman(&published, &values(draw));
        add("the rank correlation of the cells with the published ones".into(), &rank, |band| {
            (band.min_spearman, None)
        });
    }
    if near.max_abs_err.is_some() {
        let largest = |draw: Draw<'_>| errors(draw).into_iter().fold(0.0, f64::max);
        let at = worst(&errors(Draw::Measured));
        let name = format!("the largest distance of a cell from the published one ({})", compared[at].name);
        add(name, &largest, |band| (None, band.max_abs_err));
    }
    if near.rel_err.is_some() {
        let relative = |draw: Draw<'_>| -> Vec<f64> {
            errors(draw).iter().zip(&published).map(|(error, published)| error / published.abs()).collect()
        };
        let largest = |draw: Draw<'_>| relative(draw).into_iter().fold(0.0, f64::max);
        let at = worst(&relative(Draw::Measured));
        let name = format!("the largest relative distance of a cell from the published one ({})", compared[at].name);
        add(name, &largest, |band| (None, band.rel_err));
    }
    if wide.min_ratio.is_some() && compared.len() >= 2 {
        let ratio = |draw: Draw<'_>| value(&compared[0], draw) / value(&compared[1], draw);
        add(format!("{} over {}", compared[0].name, compared[1].name), &ratio, |band| (band.min_ratio, None));
    }
    Ok(())
}

fn worst(errors: &[f64]) -> usize {
    (0..errors.len()).max_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or_default()
}

/// The share of cells that are within a factor of the published ones, each divided by the one of the baseline in its
/// row. What is published as none at all may be as much as one.
fn normalised<'a>(
    claim: &Claim,
    compared: &'a [Compared],
    value: &'a dyn Fn(&Compared, Draw<'_>) -> f64,
) -> Result<impl Fn(Draw<'_>, f64) -> f64 + 'a, String> {
    let words = claim.tolerance.reproduced.normalise.clone().unwrap_or_default().to_lowercase();
    let baseline = claim.baseline.iter().find(|baseline| words.contains(baseline.as_str())).cloned();
    let baseline = baseline.ok_or_else(|| format!("`{words}` names no baseline"))?;
    let is_baseline = |cell: &&Compared| cell.quantity.0.subject == baseline;
    let pairs: Vec<(&Compared, &Compared)> = compared
        .iter()
        .filter(|cell| !is_baseline(cell))
        .filter_map(|cell| Some((cell, compared.iter().filter(is_baseline).find(|other| other.row == cell.row)?)))
        .collect();
    if pairs.is_empty() {
        return Err(format!("{baseline} was not measured, by which the cells are divided"));
    }
    Ok(move |draw: Draw<'_>, factor: f64| {
        let within = pairs.iter().filter(|(cell, base)| {
            let measured = value(cell, draw) / value(base, draw);
            let expected = cell.published / base.published;
            if cell.published == 0.0 {
                return measured <= factor / base.published;
            }
            measured >= expected / factor * (1.0 - 1e-9) && measured <= expected * factor * (1.0 + 1e-9)
        });
        within.count() as f64 / pairs.len() as f64
    })
}

/// Cells that are formulas: the evidence gives the largest relative difference from them.
fn formulas(claim: &Claim, evidence: &dyn Evidence) -> Result<Found, String> {
    let subject = Operand::of(&claim.subject);
    let metric = Measure::Plain(format!("{}, relative difference", claim.metric));
    let gathered = Gathered::new(claim, evidence, vec![subject.clone()], vec![metric], &|_| true)?;
    let mut found = gathered.finding();
    for place in 0..gathered.places.len() {
        if let Some(value) = gathered.value(&subject, place, 0, Draw::Measured) {
            let at = found.numbers.len();
            let name = format!("the largest relative difference from the formulas{}", gathered.at(place, 0));
            found.numbers.push(Number { name, value, interval: None });
            found.reproduced.push(Limit::new(at, None, claim.tolerance.reproduced.rel_err));
            found.partly.push(Limit::new(at, None, claim.tolerance.partly.rel_err));
        }
    }
    Ok(found)
}

/// A configuration: the evidence gives the share of its parameters that match, and names those that do not.
fn configuration(claim: &Claim, evidence: &dyn Evidence) -> Result<Found, String> {
    let subject = Operand::of(&claim.subject);
    let gathered = Gathered::new(claim, evidence, vec![subject.clone()], claim.measures(), &|_| true)?;
    let sample = (0..gathered.places.len()).find_map(|place| gathered.sample(&subject, place, 0));
    let sample = sample.ok_or("no configuration was compared")?;
    // A deviation that is written down is one that was meant.
    let documented = sample.note.is_some();
    Ok(Found {
        numbers: vec![Number {
            name: "the share of parameters that match".into(),
            value: sample.value,
            interval: None,
        }],
        reproduced: vec![Limit::new(0, Some(1.0), None)],
        partly: vec![Limit::new(0, (!documented).then_some(1.0), None)],
        remarks: sample.note.iter().cloned().collect(),
        ..Found::default()
    })
}

/// Rows of improvements in per cent: of the tail FCT and of the throughput.
fn improvements(claim: &Claim, expected: &ExpectedTable, evidence: &dyn Evidence) -> Result<Found, String> {
    let pairs = pairs(claim);
    let operands = pairs.iter().flat_map(|(above, below)| [above.clone(), below.clone()]).collect();
    let gathered = Gathered::new(claim, evidence, operands, claim.measures(), &|_| true)?;
    let mut found = gathered.finding();
    let (near, wide) = (&claim.tolerance.reproduced, &claim.tolerance.partly);
    for row in &expected.rows {
        let (Some(Cell::Text(topology)), Some(Cell::Number(tail)), Some(Cell::Number(throughput))) =
            (row.first(), row.get(1), row.get(2))
        else {
            return Err("a row is not a topology and two numbers".into());
        };
        let Some((above, below)) = pairs.iter().find(|(_, below)| below.subject == *topology) else { continue };
        let change = |measure: usize, sign: f64, draw: Draw<'_>| {
            let ratios: Vec<f64> = (0..gathered.places.len())
                .filter_map(|place| gathered.ratio((above, below), place, measure, draw))
                .collect();
            sign * 100.0 * (ratios.iter().sum::<f64>() / ratios.len() as f64 - 1.0)
        };
        let limits = [
            (0, -1.0, "tail FCT", *tail, near.tail_abs_err_pct.unwrap_or(0.0), wide.tail_min_pct),
            (
                1,
                1.0,
                "throughput",
                *throughput,
                near.throughput_rel_err.unwrap_or(0.0) * throughput,
                wide.throughput_min_pct,
            ),
        ];
        for (measure, sign, what, published, error, least) in limits {
            let statistic = |draw: Draw<'_>| change(measure, sign, draw);
            let value = statistic(Draw::Measured);
            if value.is_nan() {
                continue;
            }
            let at = found.numbers.len();
            let interval = bootstrap(gathered.seeds, &|draw| vec![statistic(draw)])[0];
            found.numbers.push(Number {
                name: format!("the improvement of {what} on {topology} in %"),
                value,
                interval,
            });
            found.reproduced.push(Limit::new(at, Some(published - error), Some(published + error)));
            found.partly.push(Limit::new(at, least, None));
        }
    }
    if found.numbers.is_empty() { Err("no row of the table has been measured".into()) } else { Ok(found) }
}

/// Rows that are the best ratio to any baseline at any place.
fn best_ratios(claim: &Claim, expected: &ExpectedTable, evidence: &dyn Evidence) -> Result<Found, String> {
    let pairs = pairs(claim);
    let operands = std::iter::once(Operand::of(&claim.subject)).chain(pairs.iter().map(|(_, below)| below.clone()));
    let gathered = Gathered::new(claim, evidence, operands.collect(), claim.measures(), &|_| true)?;
    let key = expected.columns.first().map(String::as_str).unwrap_or_default();
    let mut found = gathered.finding();
    let mut missing = Vec::new();
    for (row, cells) in expected.rows.iter().enumerate() {
        let label = cells.first().map(label).unwrap_or_default();
        let best = |draw: Draw<'_>| {
            let places = (0..gathered.places.len()).filter(|&place| is_row(&gathered.places[place], key, &label));
            places
                .flat_map(|place| pairs.iter().map(move |pair| (place, pair)))
                .filter_map(|(place, (above, below))| gathered.ratio((above, below), place, 0, draw))
                .fold(f64::INFINITY, f64::min)
        };
        let value = best(Draw::Measured);
        if !value.is_finite() {
            missing.push(label);
            continue;
        }
        let at = found.numbers.len();
        let interval = bootstrap(gathered.seeds, &|draw| vec![best(draw)])[0];
        found.numbers.push(Number { name: format!("the best ratio of {label}"), value, interval });
        for (band, limits) in
            [(&claim.tolerance.reproduced, &mut found.reproduced), (&claim.tolerance.partly, &mut found.partly)]
        {
            let of = |cells: &Option<Vec<f64>>| cells.as_ref().and_then(|cells| cells.get(row)).copied();
            limits.push(Limit::new(at, of(&band.cell_low), of(&band.cell_high)));
        }
    }
    if found.numbers.is_empty() {
        return Err("no row of the table has been measured".into());
    }
    if !missing.is_empty() {
        found.incomplete = Some(format!("not measured: {}", missing.join(", ")));
    }
    Ok(found)
}

fn label(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => format!("{number}"),
        Cell::Text(text) => text.clone(),
    }
}

/// The value of a row's coordinate at a place, in the unit of the table.
fn row_value(place: &Place, key: &str) -> Option<Coordinate> {
    match (place.get(key), key.strip_suffix("_pct").and_then(|name| place.get(name))) {
        (Some(value), _) => Some(value.clone()),
        (None, Some(Coordinate::Number(share))) => Some(Coordinate::Number(share * 100.0)),
        _ => None,
    }
}

fn is_row(place: &Place, key: &str, label: &str) -> bool {
    let wanted = label.parse().map_or_else(|_| Coordinate::Text(label.to_owned()), Coordinate::Number);
    row_value(place, key).is_some_and(|value| value.is(&wanted))
}
