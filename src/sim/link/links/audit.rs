//! The laws of links at one instant, for tests.

use std::collections::BTreeMap;

use super::{Links, Sharing};

/// What rounding may add to a sum of rates.
const ROUNDING: f64 = 1e-9;

impl Links {
    /// Finds a link that carries more than it can, and, where sharing is max-min fair, a transfer that could move faster: none of its
    /// links is full, or on each of those another moves faster still.
    ///
    /// # Errors
    /// What was found.
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        if self.sharing == Sharing::Alone {
            return Ok(());
        }
        self.predict();
        let mut carried: BTreeMap<_, (f64, f64, f64)> = BTreeMap::new();
        for (transfer, rate) in self.moving.iter().zip(&self.rates) {
            for (slot, link) in
                transfer.links.iter().enumerate().filter(|(_, link)| link.is_limited())
            {
                let (sum, most, limit) = carried
                    .entry((slot, link.id, transfer.direction))
                    .or_insert((0.0, 0.0, link.rate));
                (*sum, *most, *limit) = (*sum + rate, most.max(*rate), limit.min(link.rate));
            }
        }
        if let Some((link, carries)) =
            carried.iter().find(|(_, (sum, _, limit))| *sum > limit * (1.0 + ROUNDING))
        {
            return Err(format!("link {link:?} carries {carries:?} (sum, most, limit)"));
        }
        for (transfer, rate) in self.moving.iter().zip(&self.rates) {
            let limited = transfer.links.iter().enumerate().filter(|(_, link)| link.is_limited());
            let is_held_back = |(slot, link): (usize, &super::super::Link)| {
                let (sum, most, limit) = carried[&(slot, link.id, transfer.direction)];
                sum >= limit * (1.0 - ROUNDING) && *rate >= most * (1.0 - ROUNDING)
            };
            let moves = transfer.ready <= self.now && rate.is_finite();
            if self.sharing == Sharing::MaxMin && moves && !limited.into_iter().any(is_held_back) {
                return Err(format!("transfer {} could move faster than {rate}", transfer.id));
            }
        }
        Ok(())
    }
}
