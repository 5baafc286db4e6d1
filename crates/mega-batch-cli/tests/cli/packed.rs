//! Tasks that are compressed or in archives.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::layouts::{RIGHT, check, outcomes, run};
use super::support::{Folder, gzipped, mirror_program, mirror_task, tarred, zipped};

/// A task of one pair, as xz, zstd and bzip2 pack it.
const PACKED: [(&str, &str); 3] = [
    (
        "xz",
        "fd377a585a000004e6d6b446020021011c00000010cf58cce0003700305d003d888a876381965a9edb2a2dba57e4c32f1b72 \
         d04bf0475adde3ed52075b79f4d23acfb67f07f55548da3fb490a051e00011d0bceb5f296fe700014c38bc0d48541fb6f37d \
         010000000004595a",
    ),
    (
        "zst",
        "28b52ffd00688d010012430a0fc0eb749935a22d9bfaaf0f05752d2fcd277845cebad9a0e1ebb07628b813fc42a6909da029 \
         239d2c010053369d",
    ),
    (
        "bz2",
        "425a6839314159265359c286a75f00001a9b8010043010000a2221de0a200054532626419182553f526d4f4d4f5321e9ef13 \
         fdc503bc32580b101d53bf2df4f91a166e6a8a6b2a2a63b6a177245385090c286a75f0",
    ),
];

#[test]
fn packed_tasks_are_known_by_their_content() {
    let task = mirror_task();
    let a = format!("a: {RIGHT}");
    check(&[("a.json.gz", gzipped(&task))], "--tasks a.json.gz", &[&a]);
    check(&[("x/a.json", gzipped(&task))], "--tasks x", &[&a]);
    let files = [
        ("x/a.json", &*task),
        ("__MACOSX/x/._a.json", "?"),
        ("x/readme.txt", "?"),
    ];
    check(&[("data/t.zip", zipped(&files))], "--tasks data", &[&a]);
    let mark = format!("\u{feff}{task}").into_bytes();
    check(&[("a.json", mark)], "--tasks a.json", &[&a]);

    let folder = Folder::new();
    let wide: Vec<u8> = task.encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder
        .write("a.json", wide)
        .write("b.json.gz", &gzipped(&task)[..20]);
    folder.write("c.zip", &zipped(&files)[..40]);
    let (done, _) = run(&folder, "--tasks a.json b.json.gz c.zip");
    let lines: Vec<_> = done.stderr.lines().collect();
    assert_eq!(lines[0], "a.json:1:1: UTF-16 text: expected UTF-8");
    assert!(
        lines[1].starts_with("b.json.gz: cannot be unpacked: "),
        "{}",
        done.stderr
    );
    assert!(
        lines[2].starts_with("c.zip: broken zip archive: "),
        "{}",
        done.stderr
    );
    assert_eq!((done.code, lines.len()), (2, 3));
}

fn packed_task(digits: &str) -> Vec<u8> {
    let digits = digits.replace(' ', "");
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[test]
fn tasks_are_unpacked_however_they_are_packed() {
    let train = "a: train match";
    for (extension, digits) in PACKED {
        let packed = packed_task(digits);
        let name = format!("a.json.{extension}");
        check(
            &[(&*name, packed.clone())],
            &format!("--tasks {name}"),
            &[train],
        );
        // Known by its content, found by its name.
        check(&[("a.json", packed.clone())], "--tasks a.json", &[train]);
        check(
            &[(&*format!("x/{name}"), packed.clone())],
            "--tasks x",
            &[train],
        );
        // Several streams after each other are one.
        let twice = [packed.clone(), packed.clone()].concat();
        let folder = Folder::new();
        folder
            .write("a.json", twice)
            .write("b.json", &packed[..packed.len() - 9]);
        let (done, _) = run(&folder, "--tasks a.json b.json");
        let lines: Vec<_> = done.stderr.lines().collect();
        assert!(
            lines[0].contains("expected nothing more behind the value"),
            "{extension}: {}",
            done.stderr
        );
        assert!(
            lines[1].starts_with("b.json: cannot be unpacked: "),
            "{extension}: {}",
            done.stderr
        );
    }
}

#[test]
fn tar_archives_are_read_as_zip_archives_are() {
    let task = mirror_task();
    let packed = packed_task(PACKED[0].1);
    let files = [
        ("./x/a.json", task.as_bytes()),
        ("x/b.json.xz", &packed),
        ("x/._a.json", b"?"),
        ("x/readme.txt", b"?"),
    ];
    let (a, b) = (format!("a: {RIGHT}"), "b: train match");
    let plain = tarred(&files);
    let mut zipped = GzEncoder::new(Vec::new(), Compression::default());
    zipped.write_all(&plain).unwrap();
    let zipped = zipped.finish().unwrap();
    for (name, bytes) in [("t.tar", &plain), ("t.tar.gz", &zipped), ("t.tgz", &zipped)] {
        check(
            &[(name, bytes.clone())],
            &format!("--tasks {name}"),
            &[&a, b],
        );
        check(
            &[(&*format!("x/{name}"), bytes.clone())],
            "--tasks x",
            &[&a, b],
        );
    }
    let folder = Folder::new();
    let other = task.replace("[0,5]", "[0,6]");
    let program = mirror_program("solve_a");
    let files = [
        ("a.json", other.as_bytes()),
        ("a.json", task.as_bytes()),
        ("a.py", program.as_bytes()),
        ("inner.7z", b""),
    ];
    let whole = tarred(&files);
    folder
        .write("t.tar", &whole)
        .write("cut.tar", &whole[..700])
        .write("none.tar", tarred(&files[2..]));
    let (done, document) = folder.run_json("--tasks t.tar --programs t.tar");
    let differ = "t.tar/a.json: 2 files of this name in the archive, which differ: expected one, the last one is read\n";
    assert!(done.stderr.contains(differ), "{}", done.stderr);
    assert!(
        done.stderr
            .contains("archives within archives are not read: inner.7z"),
        "{}",
        done.stderr
    );
    assert_eq!((done.code, outcomes(&document)), (2, vec![a]));
    let (done, _) = run(&folder, "--tasks cut.tar none.tar");
    assert_eq!(
        done.stderr,
        "cut.tar: broken tar archive\nnone.tar: no task files in this tar archive, but `a.py`\n"
    );
}

#[test]
fn archives_that_are_not_read_are_said_to_be_packed() {
    let folder = Folder::new();
    folder
        .write("t.7z", b"7z\xbc\xaf\x27\x1c...")
        .write("a.py", mirror_program("solve_a"))
        .write("a.json", mirror_task());
    let message = "t.7z: expected text, as it is or packed with gzip, xz, zstd or bzip2, found a 7z archive, which has to \
                   be unpacked first\n";
    for options in [
        "--tasks t.7z --programs a.py",
        "--tasks a.json --programs t.7z",
    ] {
        let done = folder.run(&format!("run {options}"));
        assert_eq!((done.code, done.stderr.as_str()), (2, message), "{options}");
    }
}

#[test]
fn what_of_an_archive_is_not_read_is_told() {
    let folder = Folder::new();
    let task = mirror_task();
    let other = task.replace("[0,5]", "[0,6]");
    let program = mirror_program("solve_a");
    let wrong = program.replace("vmirror", "hmirror");
    // No archiver gives two files one name: the archive is patched afterwards.
    let files = [
        ("a.json", &*other),
        ("b.json", &task),
        ("c.json", &task),
        ("d.json", &task),
        ("a.py", &wrong),
        ("b.py", &program),
        ("inner.zip", ""),
        ("inner.tar.gz", ""),
    ];
    let mut packed = zipped(&files);
    for (name, instead) in [("b.json", "a.json"), ("d.json", "c.json"), ("b.py", "a.py")] {
        while let Some(at) = packed
            .windows(name.len())
            .position(|part| part == name.as_bytes())
        {
            packed[at..at + name.len()].copy_from_slice(instead.as_bytes());
        }
    }
    folder.write("t.zip", &packed).write("x/t.zip", &packed);
    folder.write("x/u.rar", "").write("x/v.7z", "");
    for place in ["t.zip", "x"] {
        let (done, document) = folder.run_json(&format!("--tasks {place} --programs {place}"));
        let archive = if place == "x" { "x/t.zip" } else { place };
        let differ =
            "2 files of this name in the archive, which differ: expected one, the last one is read";
        for line in [
            format!("note: {archive}: archives within archives are not read: inner.zip and 1 more"),
            format!("{archive}/a.json: {differ}"),
            format!("{archive}/a.py: {differ}"),
        ] {
            let count = done.stderr.lines().filter(|it| **it == line).count();
            assert_eq!(count, 1, "{line}\n{}", done.stderr);
        }
        // Identical entries are no loss.
        assert!(!done.stderr.contains("c.json: 2 files"), "{}", done.stderr);
        let folder_told = "note: x/u.rar: this archive and 1 more in the folder are not read here: they have to \
                           be unpacked first\n";
        assert_eq!(
            done.stderr.contains(folder_told),
            place == "x",
            "{}",
            done.stderr
        );
        assert_eq!(
            (done.code, outcomes(&document)),
            (2, vec![format!("a: {RIGHT}")])
        );
    }
}

#[test]
fn a_small_file_does_not_unpack_to_more_than_a_file_may_have() {
    let folder = Folder::new();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    // Not so alike that it is refused for how small it is packed.
    let noise = (0..1_u32 << 14).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8);
    let block: Vec<u8> = noise.chain(vec![b' '; 1 << 20]).collect();
    for _ in 0..=1024 {
        packed.write_all(&block).unwrap();
    }
    folder.write("a.json.gz", packed.finish().unwrap());
    let (done, _) = run(&folder, "--tasks a.json.gz");
    let expected =
        "a.json.gz: unpacks to more than 1073741824 bytes: expected 1073741824 at most\n";
    assert_eq!((done.code, done.stderr.as_str()), (2, expected));
}

#[test]
fn a_file_is_not_unpacked_to_many_times_its_size() {
    // Blocks of zstd that each repeat a space 2^17 times.
    let mut packed = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    for left in (0..600).rev() {
        let head = (1_u32 << 17) << 3 | 1 << 1 | u32::from(left == 0);
        packed.extend(&head.to_le_bytes()[..3]);
        packed.push(b' ');
    }
    let folder = Folder::new();
    folder.write("a.json.zst", &packed);
    folder.write("a.py", mirror_program("solve_a"));
    let told = "unpacks to more than 67108864 bytes: expected 67108864 at most";
    for options in [
        "--tasks a.json.zst --programs a.py",
        "--tasks x --programs a.json.zst",
    ] {
        let done = folder.run(&format!("run {options}"));
        assert_eq!(done.code, 2);
        let told = format!("a.json.zst: {told}\n");
        assert!(done.stderr.contains(&told), "{}", done.stderr);
    }
}

#[test]
fn names_in_an_archive_do_not_lead_out_of_it() {
    let task = mirror_task();
    let packed = zipped(&[
        ("../a.json", &task),
        ("/x/../../b.json", &task),
        ("./.c.json", &task),
    ]);
    let tar = tarred(&[("c/d.json", task.as_bytes())]);
    let files = [("t.zip", packed), ("u.tar", tar)];
    let [a, b, d] = ["a", "b", "d"].map(|id| format!("{id}: {RIGHT}"));
    let folder = Folder::new();
    for (name, bytes) in files {
        folder.write(name, bytes);
    }
    let (done, document) = run(&folder, "--tasks t.zip u.tar");
    assert_eq!((done.code, outcomes(&document)), (0, vec![a, b, d]));
    assert!(!done.stderr.contains(".."), "{}", done.stderr);
}
