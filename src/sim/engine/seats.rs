//! The table of a rank's sequences: queues hold places in it, and a place that is left is given to the next.

/// A place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seat(pub(crate) u32);

/// The sequences of a rank, each in its seat.
#[derive(Debug)]
pub(crate) struct Seats<T> {
    all: Vec<Option<T>>,
    vacant: Vec<Seat>,
}

impl<T> Default for Seats<T> {
    fn default() -> Self {
        Self { all: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Seats<T> {
    /// Gives a sequence a seat.
    pub(crate) fn seat(&mut self, sequence: T) -> Seat {
        if let Some(seat) = self.vacant.pop() {
            self.all[seat.0 as usize] = Some(sequence);
            return seat;
        }
        let seat = u32::try_from(self.all.len()).expect("fewer than 2^32 requests are live");
        self.all.push(Some(sequence));
        Seat(seat)
    }

    /// Takes a sequence out of its seat.
    pub(crate) fn vacate(&mut self, seat: Seat) -> T {
        self.vacant.push(seat);
        self.all[seat.0 as usize].take().expect("a leaving request has a seat")
    }

    /// Returns the sequence in a seat.
    pub(crate) fn get(&self, seat: Seat) -> &T {
        self.find(seat).expect("queues hold occupied seats only")
    }

    /// Returns the sequence in a seat, to change.
    pub(crate) fn get_mut(&mut self, seat: Seat) -> &mut T {
        self.find_mut(seat).expect("queues hold occupied seats only")
    }

    /// Returns the sequence in a seat, where one sits there.
    pub(crate) fn find(&self, seat: Seat) -> Option<&T> {
        self.all[seat.0 as usize].as_ref()
    }

    /// Returns the sequence in a seat, to change, where one sits there.
    pub(crate) fn find_mut(&mut self, seat: Seat) -> Option<&mut T> {
        self.all[seat.0 as usize].as_mut()
    }

    /// Returns all sequences, by seat.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter().flatten()
    }

    /// Takes all sequences, by seat.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(self).all.into_iter().flatten()
    }
}
