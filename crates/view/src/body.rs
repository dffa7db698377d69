//! The body of a response: a text that is in memory, or a file that is read while it is sent.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::task::JoinHandle;

/// Bytes that are read of a file at once.
const CHUNK_BYTES: u64 = 64 << 10;

/// The body of a response.
#[derive(Debug)]
pub struct Body {
    /// Bytes that were not sent yet.
    left: u64,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Memory(Bytes),
    File(File),
    /// A chunk of a file is being read.
    Reading(JoinHandle<io::Result<(File, Bytes)>>),
    /// Everything was sent, or the file could not be read to its end.
    Done,
}

impl Body {
    /// A text in memory.
    pub(crate) fn memory(bytes: impl Into<Bytes>) -> Body {
        let bytes = bytes.into();
        Body { left: bytes.len() as u64, source: Source::Memory(bytes) }
    }

    /// A regular file, with the length that it has now.
    pub(crate) fn file(path: &Path) -> io::Result<Body> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Body { left, source: Source::File(file) })
    }

    /// All of its bytes, read at once.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn bytes(self) -> io::Result<Vec<u8>> {
        match self.source {
            Source::Memory(bytes) => Ok(bytes.into()),
            Source::File(file) => chunk(file, self.left).map(|(_, bytes)| bytes.into()),
            Source::Reading(_) | Source::Done => Ok(Vec::new()),
        }
    }
}

/// Reads the next `bytes` of a file.
fn chunk(mut file: File, bytes: u64) -> io::Result<(File, Bytes)> {
    let mut read = Vec::new();
    (&mut file).take(bytes).read_to_end(&mut read)?;
    if (read.len() as u64) < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was sent"));
    }
    Ok((file, read.into()))
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            match std::mem::replace(&mut self.source, Source::Done) {
                Source::Done => return Poll::Ready(None),
                Source::Memory(bytes) => {
                    self.left = 0;
                    return Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))));
                }
                Source::File(_) if self.left == 0 => return Poll::Ready(None),
                Source::File(file) => {
                    let bytes = self.left.min(CHUNK_BYTES);
                    self.source = Source::Reading(tokio::task::spawn_blocking(move || chunk(file, bytes)));
                }
                Source::Reading(mut reading) => {
                    let Poll::Ready(read) = Pin::new(&mut reading).poll(context) else {
                        self.source = Source::Reading(reading);
                        return Poll::Pending;
                    };
                    let (file, bytes) = read.map_err(io::Error::other)??;
                    self.left -= bytes.len() as u64;
                    self.source = Source::File(file);
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
