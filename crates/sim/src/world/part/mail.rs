//! What goes to other parts, and what comes from them.

use std::ops::DerefMut;

use tailcut_base::Instant;

use super::{Any, Part};
use crate::world::exchange::Mail;

impl Part<'_> {
    /// Puts every packet that has begun to leave for another part until `now` into the mail for it, by its number.
    /// Returns when the first of them lands, or the next one begins to leave of those that wait: no event of the
    /// calendar tells of it.
    pub(in crate::world) fn send_mail(
        &mut self,
        now: Instant,
        mail: &mut [impl DerefMut<Target = Mail>],
    ) -> Option<Instant> {
        self.settle_all(now);
        if self.interfaces.is_some() {
            (0..self.hosts.len()).for_each(|host| self.catch_up_all(now, host));
        }
        let mut next: Option<Instant> = None;
        let mut is_due = |at: Instant| next = Some(next.map_or(at, |next| next.min(at)));
        for &(at, port, part) in &self.outward {
            let sender = &mut self.ports[at as usize];
            if self.pfc.is_none() {
                sender.catch_up(now, &mut self.arena);
            }
            while let Some((land, id)) = sender.wire.fetch(&mut self.arena) {
                let mail = &mut *mail[part as usize];
                mail.landings.push((port, land));
                mail.packets.push(self.arena.get(id).clone());
                if self.arena.has_headers() {
                    mail.headers.push(*self.arena.header(id));
                }
                if let Some(attribution) = &self.attribution {
                    mail.accounts.push(attribution.account(id));
                }
                self.arena.remove(id);
                self.counts.sent += 1;
                is_due(land);
            }
            if sender.waiting() > 0 && self.pfc.is_none() {
                is_due(sender.wire.free_at());
            }
        }
        for frame in self.pfc.iter_mut().flat_map(|pfc| pfc.outgoing.drain(..)) {
            is_due(frame.at);
            mail[self.cut.part_of(self.network.ports()[frame.port].peer) as usize].frames.push(frame);
        }
        next
    }

    /// Takes in the mail from another part. The packets of one port are in the order in which they land.
    pub(in crate::world) fn take_mail(&mut self, mail: &mut Mail) {
        self.counts.arrived += mail.packets.len() as u64;
        mail.frames.drain(..).for_each(|frame| self.expect_pause(frame));
        let mut headers = mail.headers.drain(..);
        let mut accounts = mail.accounts.drain(..);
        for ((port, at), packet) in mail.landings.drain(..).zip(mail.packets.drain(..)) {
            let id = self.arena.insert(packet);
            if let Some(header) = headers.next() {
                self.arena.set_header(id, header);
            }
            if let Some((attribution, account)) = self.attribution.as_mut().zip(accounts.next()) {
                attribution.set(id, &account);
            }
            let position = self.positions.port(port);
            if let Some(land) = self.ports[position].wire.put(at, &mut self.arena, id) {
                self.push_landing::<Any>(position, land);
            }
        }
    }
}
