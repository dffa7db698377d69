//! Which tailcut made a result.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::OnceLock;

/// The version with a fingerprint of the program that runs: `0.1.0+1c5b8f2e`.
///
/// Two builds that might differ in what they compute never count as one, so that no finished point of an older build
/// is taken for a result of this one.
pub fn version() -> &'static str {
    VERSION.get_or_init(|| version_of(running_program()))
}

static VERSION: OnceLock<String> = OnceLock::new();

/// Says that this code is in the file `library`, which the running program has loaded: the version is then that of the
/// file, and not that of the program. Counts if nobody has asked for the version before.
pub fn is_in_library(library: &Path) {
    VERSION.get_or_init(|| version_of(File::open(library)));
}

/// The file of the program that runs. Linux has it open also if another was put in its place or nothing is there.
fn running_program() -> io::Result<File> {
    File::open("/proc/self/exe").or_else(|_| File::open(std::env::current_exe()?))
}

/// The version of a program. One that cannot be read, as without `/proc`, has a version that no other run has, not even
/// of the same program: it finishes no other's points, and no other finishes its.
fn version_of(program: io::Result<File>) -> String {
    let program = program.and_then(fingerprint_of_program).unwrap_or_else(|_| unlike_any_other());
    format!("{}+{:08x}", env!("CARGO_PKG_VERSION"), program as u32)
}

/// A number that is another one each time.
fn unlike_any_other() -> u64 {
    use std::hash::{BuildHasher, RandomState};

    // The standard library draws the keys of its hash tables from the system's randomness.
    RandomState::new().hash_one(std::process::id())
}

/// The fingerprint of the build id that the linker computed from all that it linked, else of the whole program: to read
/// some ten megabytes takes longer than a small simulation.
fn fingerprint_of_program(mut program: File) -> io::Result<u64> {
    if let Some(id) = build_id(&mut program) {
        return Ok(fingerprint(&id));
    }
    program.rewind()?;
    let (mut block, mut state) = (Vec::new(), 0);
    while (&mut program).take(1 << 16).read_to_end(&mut block)? > 0 {
        state = tailcut_base::mix64(state ^ fingerprint(&block));
        block.clear();
    }
    Ok(state)
}

/// The build id in the notes of an ELF file of 64 bits and little-endian numbers; `None` for another file, one without
/// a build id, or one whose build id is too short to tell builds apart.
fn build_id(program: &mut (impl Read + Seek)) -> Option<Vec<u8>> {
    const NOTES: u32 = 4;
    const BUILD_ID: u32 = 3;
    let mut header = [0; 64];
    program.read_exact(&mut header).ok()?;
    if header[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, entry, entries) = (u64_at(&header, 32)?, u16_at(&header, 54)?, u16_at(&header, 56)?);
    for at in 0..u64::from(entries) {
        let segment = part(program, table.checked_add(at * u64::from(entry))?, 56)?;
        if u32_at(&segment, 0)? != NOTES {
            continue;
        }
        let notes = part(program, u64_at(&segment, 8)?, u64_at(&segment, 32)?)?;
        let mut rest = notes.as_slice();
        while let (Some(name), Some(size), Some(kind)) = (u32_at(rest, 0), u32_at(rest, 4), u32_at(rest, 8)) {
            let from = 12 + (name as usize).next_multiple_of(4);
            let Some(content) = rest.get(from..from + size as usize) else { break };
            if kind == BUILD_ID && rest.get(12..16) == Some(b"GNU\0") && content.len() >= 8 {
                return Some(content.to_vec());
            }
            rest = rest.get(from + (size as usize).next_multiple_of(4)..).unwrap_or_default();
        }
    }
    None
}

/// Some bytes of a file; `None` if it has none there, or if they are more than headers and notes can be.
fn part(file: &mut (impl Read + Seek), from: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|&length| length <= 1 << 16)?];
    file.seek(SeekFrom::Start(from)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// 64 bits that stand for some bytes. Not a cryptographic hash: it tells apart what was not made to collide.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(8);
    let mut state = bytes.len() as u64;
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
        state = (state.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    for &byte in words.remainder() {
        state = (state.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    tailcut_base::mix64(state)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn every_byte_counts() {
        let text = b"a scenario of some length, longer than one word".to_vec();
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert_ne!(fingerprint(&text), fingerprint(&other), "byte {at}");
        }
        assert_ne!(fingerprint(b""), fingerprint(b"\0"));
    }

    /// An ELF file with a segment of code, and one of two notes of which the second is the build id.
    fn elf(id: &[u8]) -> Vec<u8> {
        let note = |kind: u32, name: &[u8; 4], content: &[u8]| {
            let head = [4, content.len() as u32, kind].map(u32::to_le_bytes).concat();
            let mut note = [head.as_slice(), name, content].concat();
            note.resize(note.len().next_multiple_of(4), 0);
            note
        };
        let notes = [note(1, b"GNU\0", &[9; 6]), note(3, b"GNU\0", id)].concat();
        let segment = |kind: u32, from: u64, length: usize| {
            let mut segment = vec![0; 56];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            segment[8..16].copy_from_slice(&from.to_le_bytes());
            segment[32..40].copy_from_slice(&(length as u64).to_le_bytes());
            segment
        };
        let mut header = vec![0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[32] = 64;
        header[54] = 56;
        header[56] = 2;
        [header, segment(1, 0, 64), segment(4, 64 + 2 * 56, notes.len()), notes].concat()
    }

    #[test]
    fn the_build_id_is_found_among_the_notes() {
        let id = *b"twenty bytes of hash";
        assert_eq!(build_id(&mut Cursor::new(elf(&id))), Some(id.to_vec()));
        assert_eq!(build_id(&mut Cursor::new(elf(b"short"))), None, "too short to tell builds apart");
    }

    #[test]
    fn a_program_without_a_build_id_or_cut_short_has_none() {
        let whole = elf(b"twenty bytes of hash");
        for length in 0..whole.len() {
            assert_eq!(build_id(&mut Cursor::new(&whole[..length])), None, "{length} bytes");
        }
        let mut damaged = whole;
        damaged[32..40].fill(0xff);
        assert_eq!(build_id(&mut Cursor::new(damaged)), None);
    }

    #[test]
    fn this_program_has_a_fingerprint() {
        assert!(!version().ends_with("+00000000"), "{}", version());
        assert_eq!(version(), version_of(running_program()), "another run of the same program has the same");
    }

    #[test]
    fn another_program_has_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let version = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            version_of(File::open(path))
        };
        let versions = [
            version("one", &elf(b"twenty bytes of hash")),
            version("two", &elf(b"other bytes of hash ")),
            version("script", b"a program without a build id"),
            version("long", &[7; (1 << 16) + 1]),
            version("longer", &[7; (1 << 16) + 2]),
        ];
        for (n, one) in versions.iter().enumerate() {
            assert!(versions.iter().skip(n + 1).all(|other| other != one), "{versions:?}");
        }
        assert_eq!(versions[0], version("copy", &elf(b"twenty bytes of hash")));
    }

    #[test]
    fn a_program_that_cannot_be_read_shares_its_version_with_nobody() {
        let unreadable = || version_of(Err(io::Error::from(io::ErrorKind::NotFound)));
        assert_ne!(unreadable(), unreadable());
    }
}
