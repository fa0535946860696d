import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { placeInMember } from '../../../../src/pipeline/bulk/origin.js'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Member, Source, StoredFile } from '../../../../src/base/flow.js'
import { decode, skipLines } from '../../../../src/pipeline/format/decode.js'
import { paxRecord, type Stored, tarFiles, tarOf, zipOf } from '../../../support/facts/archives.js'

/** Bytes in chunks of a size, each of which is overwritten when the next one is asked for, as a source may do. */
async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    yield chunk
    chunk.fill('!')
  }
}

interface Options {
  readonly name?: string
  readonly size?: number
  readonly isStored?: boolean
  readonly skip?: number
  readonly members?: string
}

async function load(
  bytes: Buffer,
  { name = 'a.zip', size = 1 << 16, isStored = true, skip = 0, members }: Options = {},
) {
  const stat = { size: bytes.length, inode: 1, mtimeMs: 0, ctimeMs: 0 }
  const part = async (from: number, to: number) => await Promise.resolve(Buffer.from(bytes.subarray(from, to)))
  const file = { stat, part } as unknown as StoredFile
  const source: Source = { id: 0, name, open: () => chunks(bytes, size), ...(isStored ? { file } : {}) }
  const notes: string[] = []
  let [text, problem, code, kind] = ['', '', '', '']
  let first: Member | undefined
  try {
    const lines = await decode(source, chunks(bytes, size), { format: 'auto', members }, (of, found) =>
      notes.push(`${of}: ${found}`),
    )
    kind = lines.kind
    first = lines.members?.()
    for await (const chunk of skipLines(lines.bytes, skip)) text += Buffer.from(chunk).toString()
  } catch (error) {
    if (!isSluiceError(error)) throw error
    problem = error.message
    code = error.code
  }
  const where = (line: number) => {
    const { member, line: ofFile, element } = placeInMember(first, line)
    return `${member} ${ofFile === undefined ? 'element' : 'line'} ${ofFile ?? element}`
  }
  return { kind, lines: text.split('\n').slice(0, -1), notes, problem, code, where }
}

const files = [
  { name: 'data/', data: '' },
  { name: 'data/one.ndjson', data: '{"a":1}\n\n{"a":2}' },
  { name: 'rows.csv', data: 'id,name\n1,x\n2,y\n' },
  { name: './all.json', data: '[{"b":1},\n{"b":2}]' },
  { name: 'packed', data: gzipSync('{"c":1}\n') },
  { name: '__MACOSX/._one.ndjson', data: '\0\u0005' },
  { name: 'none.ndjson', data: '' },
]
const documents = [
  '{"a":1}',
  '',
  '{"a":2}',
  '{"id":"1","name":"x"}',
  '{"id":"2","name":"y"}',
  '{"b":1}',
  '{"b":2}',
  '{"c":1}',
]
const places = [
  'data/one.ndjson line 1',
  'data/one.ndjson line 2',
  'data/one.ndjson line 3',
  'rows.csv element 1',
  'rows.csv element 2',
  'all.json element 1',
  'all.json element 2',
  'packed line 1',
]

const kinds = [
  { kind: 'a ZIP archive', bytes: zipOf(files) },
  { kind: 'a ZIP archive', bytes: zipOf(files.map(file => ({ ...file, method: 0, isStreamed: true }))) },
  {
    kind: 'a ZIP archive',
    bytes: zipOf(
      files.map(file => ({ ...file, isZip64: true })),
      'made by hand',
    ),
  },
  { kind: 'a tar archive', bytes: tarOf(files) },
  { kind: 'a tar archive', bytes: tarOf(files.map(file => ({ ...file, magic: '' }))) },
]

describe('the files of an archive are read one behind the other, each in its own format', () => {
  test.each(kinds)('$kind', async ({ kind, bytes }) => {
    for (const size of [1 << 16, 511, 7]) {
      const { kind: ofLines, lines, notes, problem, where } = await load(bytes, { size })
      expect(problem).toBe('')
      expect({ lines, ofLines }).toEqual({ lines: documents, ofLines: 'elements' })
      expect(lines.map((_, at) => where(at + 1))).toEqual(places)
      expect(notes).toEqual([
        'a.zip/rows.csv: CSV with commas, UTF-8, 2 columns: id, name',
        `a.zip: ${kind} with 4 files. Sluice skipped files of macOS (1), empty files (1)`,
      ])
    }
  })

  test('a resume passes over the lines that were read', async () => {
    expect((await load(tarOf(files), { skip: 4 })).lines).toEqual(documents.slice(4))
  })

  test('tar is read from a stream, also compressed; the directory of a ZIP archive needs a file', async () => {
    expect((await load(tarOf(files), { isStored: false })).lines).toEqual(documents)
    const { code, problem } = await load(zipOf(files), { isStored: false, name: '-' })
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain(
      'it is a ZIP archive, which has its directory at the end. Save it as a file, and pass that file',
    )
  })

  test('a dump in an archive keeps its ids, and nothing else may stand beside it', async () => {
    const dump = { name: 'dump.json', data: '{"_id":"7","_source":{"a":1}}\n' }
    const { kind, lines, problem } = await load(zipOf([dump, { name: 'b.ndjson', data: '{"b":1}\n' }, dump]))
    expect(kind).toBe('actions')
    expect(lines).toHaveLength(2)
    expect(problem).toContain('b.ndjson: its documents have no ids of their own, but those of the files before it do')
  })

  test('a line that begins like a line that its format refused is only a broken line', async () => {
    const { lines } = await load(zipOf([{ name: 'x.ndjson', data: '\u001fa\u001f{}\n{"a":1}\n\u001fb\u001f{}\n' }]))
    expect(lines).toEqual([' \u001fa\u001f{}', '{"a":1}', ' \u001fb\u001f{}'])
  })
})

describe('files of an archive that cannot be read are left out, and named', () => {
  const good = { name: 'good.ndjson', data: '{"a":1}\n' }

  test.each([
    ['text that is named as data', { name: 'a.json', data: 'Read\nme\n' }, 'a.json: it looks like plain text'],
    ['XML', { name: 'a.xml', data: '<?xml version="1.0"?>\n<a/>\n' }, 'a.xml: it looks like XML'],
    ['an archive in it', { name: 'b.zip', data: zipOf([good]) }, 'Sluice does not read this in an archive'],
    ['a tar archive in it', { name: 'b.tar', data: tarOf([good]) }, 'it looks like a tar archive'],
    ['an encrypted file', { ...good, flags: 1 }, 'good.ndjson: it is encrypted'],
    ['another method', { ...good, method: 9 }, 'good.ndjson: it is compressed with Deflate64'],
  ] satisfies [string, Stored, string][])('%s makes it fail at its end', async (_, file, why) => {
    const { lines, code, problem } = await load(zipOf([file, { ...good, name: 'last.ndjson' }]))
    expect({ lines, code }).toEqual({ lines: ['{"a":1}'], code: 'INPUT_UNREADABLE' })
    expect(problem).toContain(why)
  })

  test('links and devices are passed over', async () => {
    const ofZip = await load(zipOf([{ name: 'ln', data: '/etc/passwd', isLink: true }, good]))
    const ofTar = await load(
      tarOf([{ name: 'ln', type: '2' }, { name: 'dev', type: '3' }, { name: 'd', type: '5' }, good]),
    )
    expect(ofZip.notes).toEqual(['a.zip: a ZIP archive with 1 file. Sluice skipped links (1)'])
    expect(ofTar.notes).toEqual(['a.zip: a tar archive with 1 file. Sluice skipped links (1), devices (1)'])
  })

  test('a name is only a name, however it looks', async () => {
    const names = ['../../etc/cron.d/x', '/etc/x', 'C:\\x', 'a\u001b[2Jb', 'x'.repeat(5000)]
    for (const bytes of [
      zipOf(names.map(name => ({ ...good, name }))),
      tarOf(names.map(name => ({ ...good, name }))),
    ]) {
      const { lines, where } = await load(bytes)
      expect(lines).toHaveLength(5)
      expect(where(1)).toBe('../../etc/cron.d/x line 1')
      expect(where(4)).toBe('a\\u001b[2Jb line 1')
      expect(where(5).length).toBeLessThan(1010)
    }
  })

  test('names in a directory that take too much memory are refused', async () => {
    // Each is a whole file of no bytes, and all share one header, which nobody reads so far.
    const name = '\u0001'.repeat(65_535)
    const one = zipOf([{ name, data: '' }])
    const entryFrom = one.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))
    const entry = one.subarray(entryFrom, one.length - 22)
    const count = 2100
    const end = Buffer.from(one.subarray(one.length - 22))
    end.writeUInt16LE(count, 8)
    end.writeUInt16LE(count, 10)
    end.writeUInt32LE(entry.length * count, 12)
    const parts = Array.from({ length: count }, () => entry)
    const { code, problem } = await load(Buffer.concat([one.subarray(0, entryFrom), ...parts, end]))
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain('the names of its files take more than 128 MiB')
  })

  test('two files of one name are both read', async () => {
    expect((await load(zipOf([good, good]))).lines).toHaveLength(2)
  })

  test('a file of an office program is no archive of documents', async () => {
    const { code, problem } = await load(zipOf([{ name: '[Content_Types].xml', data: '<x/>' }]))
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain('its workbook data cannot be read (it has no list of sheets)')
  })

  test('an archive without files is read as nothing', async () => {
    expect(await load(zipOf([]))).toMatchObject({ lines: [], problem: '' })
  })
})

describe('files of an archive without documents', () => {
  const good = { name: 'data/good.ndjson', data: '{"a":1}\n' }
  const prose = 'To read, first\nthen, to read\nand so, on\n'
  const beside = [
    { name: 'docs/Readme.txt', data: prose },
    { name: 'LICENSE', data: 'Do\nwhat\n' },
    { name: 'a.PDF', data: '%PDF-1.4\n' },
    { name: 'notes.txt', data: 'some\nwords\n' },
    { name: 'x.bin', data: '\0\u0001\u0002' },
  ]

  test.each(['zip', 'tar'])('are skipped and said in a %s archive, by name and by look', async kind => {
    const { lines, problem, notes } = await load(
      (kind === 'zip' ? zipOf : tarOf)([...beside.slice(0, 3), good, ...beside.slice(3)]),
    )
    expect({ lines, problem }).toEqual({ lines: ['{"a":1}'], problem: '' })
    const names = 'docs/Readme.txt, LICENSE, a.PDF, …'
    expect(notes.at(-1)).toBe(
      `a.zip: a ${kind === 'zip' ? 'ZIP' : 'tar'} archive with 1 file. Sluice skipped files without documents (5: ${names})`,
    )
  })

  test('make an archive fail that has nothing else', async () => {
    const { code, problem } = await load(zipOf(beside.slice(0, 2)))
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain('docs/Readme.txt: it holds no documents. LICENSE: it holds no documents')
  })

  test('names that only resemble theirs are read', async () => {
    const data = '{"a":1}\n'
    const names = ['readme.json', 'README.csv/one.ndjson', 'licenses.ndjson', 'mdfiles', 'a.md.ndjson']
    expect((await load(zipOf(names.map(name => ({ name, data }))))).lines).toHaveLength(names.length)
  })
})

describe('files of an archive that the user chooses', () => {
  const names = ['a.csv', 'x/b.csv', 'x/y/c.csv', 'x/d.json', 'README.md', 'e+f.csv']
  const archive = zipOf(
    names.map(name => ({ name, data: name.endsWith('.csv') ? `n\n${name}\n` : `{"n":"${name}"}\n` })),
  )

  test.each([
    ['*.csv', ['a.csv', 'x/b.csv', 'x/y/c.csv', 'e+f.csv']],
    ['x/*.csv', ['x/b.csv']],
    ['x/**/*.csv', ['x/b.csv', 'x/y/c.csv']],
    ['x/**', ['x/b.csv', 'x/y/c.csv', 'x/d.json']],
    ['*.md, ?.json', ['x/d.json', 'README.md']],
    ['e+f.csv', ['e+f.csv']],
    ['README.md', ['README.md']],
  ])('%s', async (members, chosen) => {
    const { lines, problem, notes } = await load(archive, { members })
    expect(problem).toBe('')
    expect(lines.map(line => (JSON.parse(line) as { n: string }).n)).toEqual(chosen)
    expect(notes.at(-1)).toContain(`files that --members does not name (${names.length - chosen.length})`)
  })

  test('a pattern that fits none makes the archive fail', async () => {
    expect(await load(archive, { members: '*.xml' })).toMatchObject({
      lines: [],
      code: 'INPUT_UNREADABLE',
      problem: 'cannot read a.zip: no file of this archive fits --members *.xml',
    })
  })

  test('a name that somebody made for that takes no time', async () => {
    const dashes = '-'.repeat(900)
    const names = [`${dashes}.csx`, `${dashes}.csv`, `a/${dashes}.csv`]
    const { lines } = await load(zipOf(names.map(name => ({ name, data: 'n\n1\n' }))), {
      members: '*-*-*-*-*-*-*.csv, **-*-*-*-*.tsv',
    })
    expect(lines).toHaveLength(2)
  })

  test('what cannot be read of them makes it fail', async () => {
    const { problem, lines } = await load(
      zipOf([
        { name: 'a.txt', data: 'some\nwords\n' },
        { name: 'b.json', data: '{"n":1}\n' },
      ]),
      { members: '*.txt' },
    )
    expect(lines).toEqual([])
    expect(problem).toContain('a.txt: it looks like plain text')
  })
})

describe('tar', () => {
  const long = `${'folder/'.repeat(20)}x.ndjson`
  const data = '{"a":1}\n'

  test.each([
    ['ustar', [{ name: 'x.ndjson', prefix: long.slice(0, -9), data }]],
    [
      'pax',
      [
        { name: 'h', type: 'x', data: paxRecord('path', long) },
        { name: 'short', data },
      ],
    ],
    [
      'GNU',
      [
        { name: '././@LongLink', type: 'L', magic: 'ustar  \0', data: `${long}\0` },
        { name: 'short', magic: 'ustar  \0', data },
      ],
    ],
  ])('long names of %s', async (_, taken) => {
    const { lines, where } = await load(tarOf(taken))
    expect(lines).toEqual(['{"a":1}'])
    expect(where(1)).toBe(`${long} line 1`)
  })

  test('sizes of pax and of GNU', async () => {
    const size = `\u0080${'\0'.repeat(10)}\b`
    const pax = [
      { name: 'h', type: 'x', data: paxRecord('size', '8') },
      { name: 'x', data, size: '00000000000\0' },
    ]
    expect((await load(tarOf([{ name: 'x', data, size }, ...pax]))).lines).toEqual(['{"a":1}', '{"a":1}'])
  })

  test('sparse files are refused', async () => {
    const pax = { name: 'h', type: 'x', data: paxRecord('GNU.sparse.major', '1') }
    const { lines, problem } = await load(tarOf([pax, { name: 'x', data }, { name: 'y', data }]))
    expect(lines).toEqual(['{"a":1}'])
    expect(problem).toContain('x: it is stored as a sparse file')
  })

  test('archives that were joined are read to their end', async () => {
    expect(
      (await load(Buffer.concat([tarOf([{ name: 'x', data }]), tarOf([{ name: 'y', data }])]))).lines,
    ).toHaveLength(2)
  })

  test('an archive that was cut off is truncated, wherever that was', async () => {
    const whole = tarFiles([
      { name: 'x', data },
      { name: 'y', data: data.repeat(100) },
    ])
    for (const end of [whole.length, whole.length - 1, 1536 + 200, 1536, 1100, 1024, 600]) {
      const { code, lines } = await load(whole.subarray(0, end))
      expect(code).toBe('INPUT_TRUNCATED')
      expect(lines[0]).toBe('{"a":1}')
    }
  })

  test.each([
    ['other data behind the end', Buffer.concat([tarOf([{ name: 'x', data }]), Buffer.from('{"b":1}\n')])],
    ['a broken header', Buffer.concat([tarFiles([{ name: 'x', data }]), Buffer.alloc(512, 'x'), Buffer.alloc(1024)])],
    [
      'a pax header that is not whole',
      tarOf([
        { name: 'x', data },
        { name: 'h', type: 'x', data: '99 path=a\n' },
      ]),
    ],
    [
      'facts without end',
      tarOf([
        { name: 'x', data },
        { name: 'h', type: 'L', data: 'y', size: '77777777777\0' },
      ]),
    ],
    [
      'a size that no number holds',
      tarOf([
        { name: 'x', data },
        { name: 'y', size: '\u0080\u007f\u007f\u007f\u007f\u007f\u007f\u007f\u007f\u007f\u007f\u007f' },
      ]),
    ],
  ])('%s is reported after all that was whole', async (_, bytes) => {
    const { code, lines } = await load(bytes)
    expect({ code, lines }).toEqual({ code: 'INPUT_UNREADABLE', lines: ['{"a":1}'] })
  })
})

describe('ZIP', () => {
  const good = { name: 'good.ndjson', data: '{"a":1}\n' }

  test.each([
    ['a wrong checksum', zipOf([good, { ...good, crc: 1 }]), 'the checksum of good.ndjson is wrong'],
    ['a size that is too small', zipOf([good, { ...good, size: 3 }]), 'is longer than its directory says'],
    ['a size that is too large', zipOf([good, { ...good, size: 9 }]), 'is shorter than its directory says'],
    ['two names', zipOf([good, { ...good, otherName: 'evil.ndjson' }]), 'it has two different names for good.ndjson'],
    [
      'a file that the directory leaves out',
      zipOf([good, { ...good, isHidden: true }]),
      'its directory leaves out a file',
    ],
    ['other data after its end', Buffer.concat([zipOf([good]), Buffer.from('x')]), 'other data after its end'],
    ['no directory', zipOf([good]).subarray(0, 60), 'its directory is missing'],
  ])('%s is reported', async (_, bytes, why) => {
    const { code, problem } = await load(bytes)
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain(why)
  })

  test('files that share bytes, as small archives with a huge content have them, are refused', async () => {
    const bytes = zipOf([good, good])
    const second = bytes.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'))
    bytes.writeUInt32LE(0, second + 42)
    expect((await load(bytes)).problem).toContain('two of its files share bytes')
  })

  test('damaged data is reported after all that could be decoded', async () => {
    const bytes = zipOf([good, { ...good, name: 'x.ndjson', data: '{"b":1}\n'.repeat(100) }])
    bytes.fill(
      0xff,
      bytes.lastIndexOf('x.ndjson', bytes.indexOf('PK\u0001\u0002')) + 8,
      bytes.indexOf('PK\u0001\u0002'),
    )
    const { lines, code } = await load(bytes)
    expect({ lines, code }).toEqual({ lines: ['{"a":1}'], code: 'INPUT_UNREADABLE' })
  })
})
