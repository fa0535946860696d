import fs from 'node:fs'
import { appendFile, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { type Checkpoint, type CheckpointInput, START } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import {
  inputLine,
  Journal,
  markLine,
  parseJournal,
  sentLine,
  sinceLine,
  type Whole,
  wholeLine,
} from '../../../../../src/run/state/checkpoint/journal.js'
import { storedRun, type StoredRun } from '../../../../support/state/stored-runs.js'
import { PackedText } from '../../../../../src/run/state/checkpoint/packed-text.js'
import { runIn } from '../../../../support/state/stored-runs.js'

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
  path = join(folder, 'r.jsonl')
})
afterEach(async () => await rm(folder, { recursive: true }))

const stats = { size: 900, inode: 2 ** 52 + 1, mtimeMs: 1_763_769_600_123.25, ctimeMs: 1_763_769_600_124.25 }

const begun: CheckpointInput = {
  id: 1,
  name: '/data/ä "b" 1.ndjson',
  status: 'begun',
  token: 'abcdefgh',
  mark: { kind: 'lines', document: 8, line: 9, offset: 100, tail: 7 },
  read: 8,
  hasStored: true,
  file: { path: '/data/ä "b" 1.ndjson', stat: stats, bytes: 300, sum: 'sum-300' },
}

const old = {
  size: 900,
  inode: '77',
  head: { bytes: 900, sha256: 'head' },
  tail: { end: 300, sha256: 'tail' },
}

/** When a second process began. */
const later = '2026-11-21T00:00:00.500Z'

/** One of each kind, with every field that an input may have. */
const inputs: readonly CheckpointInput[] = [
  begun,
  {
    ...begun,
    id: 2,
    name: 'relative.ndjson',
    status: 'finished',
    hasStored: false,
    start: { document: 5, wasRead: true },
  },
  { ...begun, id: 3, status: 'failed', file: { path: '/x', stat: undefined, bytes: 300, sum: 'sum-300' } },
  { ...begun, id: 4, file: { path: undefined, stat: undefined, bytes: 300, sum: '', old } },
  { ...begun, id: 5, name: 'x.json', mark: { kind: 'elements', document: 3, line: 3, offset: 40, tail: 0 } },
  { id: 6, name: '- (2)', status: 'begun', token: 't6', mark: START, read: 0, hasStored: true, copy: '2-a1b2c3d4' },
  {
    id: 7,
    name: 'servicenow:incident',
    status: 'finished',
    token: 't7',
    mark: { kind: 'lines', document: 3, line: 3, offset: 40, tail: 0 },
    read: 2,
    hasStored: true,
    place: { since: '2026-11-21 10:00:00', after: ['x', null] },
    selection: { query: 'a=1', fields: 'b,c' },
    since: later,
  },
]

const whole: Whole = {
  status: 'running',
  written: '2026-11-21T00:00:01.000Z',
  target: {
    clusterUuid: 'c',
    url: 'https://c',
    index: 'logs',
    alias: 'a',
    indexUuid: 'i',
    behind: ['logs-1'],
    destinations: [{ index: 'x', indexUuid: 'y' }, { index: 'z' }],
  },
  isDoubtful: true,
  left: 5,
  counts: { ...nothing, read: 40, created: 30, rejected: 10 },
  rejections: [{ type: 't', status: 400, documents: 10, example: 'r' }] as unknown as Checkpoint['rejections'],
  deadLetters: { path: '/dead', length: 77, writer: 'w' },
}

const checkpoint = {
  run: 'nightly.1',
  began: '2026-11-21T00:00:00.000Z',
  scope: 'alias a',
  kind: 'replay',
  named: 'nightly.1',
  key: 'k',
  sources: ['/data/*.ndjson'],
  options: { op: 'create', ids: 'run' },
  ...whole,
  inputs,
} as Checkpoint

/** The state that a text holds. */
function read(text: string | Buffer): StoredRun {
  const state = parseJournal(PackedText.of(Buffer.from(text)))
  if (typeof state === 'string') throw new Error(state)
  return storedRun(state)
}

async function begin(first: Checkpoint = checkpoint): Promise<Journal> {
  return await Journal.begin(path, first)
}

describe('a journal', () => {
  test('gives back every field as it was written', async () => {
    await (await begin()).close()
    expect(await runIn(path)).toStrictEqual(checkpoint)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('gives back a run of a load without a name, dead letters or inputs', async () => {
    const { kind: _, named: __, deadLetters: ___, ...more } = checkpoint
    const plain = { ...more, inputs: [] }
    await (await begin(plain)).close()
    expect(await runIn(path)).toStrictEqual(plain)
  })

  test('holds more inputs than are written at once', async () => {
    const many = Array.from({ length: 1500 }, (_, id) => ({ ...begun, id, name: `${id}`, token: `t${id}` }))
    await (await begin({ ...checkpoint, inputs: many })).close()
    expect((await runIn(path)).inputs).toEqual(many)
  })

  test('adds only what has changed, in the order of the calls', async () => {
    const journal = await begin()
    const before = (await stat(path)).size
    const moved = { ...begun, mark: { ...begun.mark, document: 20, offset: 400, tail: 0 }, read: 20 }
    const added = ['', markLine(moved), wholeLine({ ...whole, left: 4 }), sentLine(1, 700, 'sum-700')]
    await Promise.all(added.map(async (lines, at) => await journal.add(lines, at % 2 === 0)))
    await journal.close()
    expect((await readFile(path)).subarray(before).toString()).toBe(added.join(''))
  })

  test('writes lines of which a full disk took a part whole with the next ones', async () => {
    const journal = await begin()
    const before = await readFile(path, 'utf8')
    vi.spyOn(fs, 'appendFileSync').mockImplementationOnce((fd, lines) => {
      fs.writeSync(Number(fd), String(lines).slice(0, 70))
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    })
    syncBuiltinESMExports()
    await expect(journal.add(wholeLine({ ...whole, left: 4 }), true)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(await runIn(path)).toEqual(checkpoint)
    await journal.add(sentLine(1, 700, 'ä'), false)
    await journal.add(wholeLine({ ...whole, left: 3 }), true)
    await journal.close()
    const lines = [wholeLine({ ...whole, left: 4 }), sentLine(1, 700, 'ä'), wholeLine({ ...whole, left: 3 })]
    expect(await readFile(path, 'utf8')).toBe(before + lines.join(''))
  })

  test('is written again if somebody has removed it, with all that was added', async () => {
    const journal = await begin()
    await journal.add(wholeLine({ ...whole, left: 4 }), true)
    await journal.restore()
    const before = await readFile(path, 'utf8')
    await rm(path)
    await journal.restore()
    expect(await readFile(path, 'utf8')).toBe(before)
    await journal.close()
    expect((await runIn(path)).left).toBe(4)
  })

  test('is not mixed up with a file that took its name', async () => {
    const journal = await begin()
    await rename(path, `${path}.away`)
    await writeFile(path, 'another')
    await journal.restore()
    await journal.close()
    expect(await readFile(path, 'utf8')).toBe('another')
  })
})

describe('the marks that count', () => {
  const first = () => read([...linesOf(checkpoint)].join(''))
  const moved: CheckpointInput = {
    ...begun,
    status: 'finished',
    mark: { ...begun.mark, document: 20, offset: 600, tail: 0 },
    read: 20,
    file: { path: begun.name, stat: stats, bytes: 600, sum: 'sum-600' },
  }
  const fresh: CheckpointInput = { ...begun, id: 9, name: 'new', token: 't9' }

  test('a mark counts once a checkpoint follows', () => {
    const text = linesOf(checkpoint).join('') + markLine(moved)
    expect(read(text)).toEqual(first())
    const more = read(text + wholeLine({ ...whole, left: 4 }))
    expect(more).toEqual({ ...first(), left: 4, inputs: [moved, ...inputs.slice(1)] })
  })

  test('an input counts at once, as one that is begun and of which something may be stored', () => {
    const { inputs: known } = read(linesOf(checkpoint).join('') + inputLine(fresh))
    const now = { ...fresh, status: 'begun', mark: START, read: 0, hasStored: true, since: later }
    expect(known).toEqual([...inputs, now])
  })

  test('an input whose first part another run has loaded begins behind that', () => {
    const { inputs: known } = read(linesOf(checkpoint).join('') + inputLine(fresh, fresh.mark))
    expect(known.at(-1)).toMatchObject({ token: 't9', status: 'begun', mark: fresh.mark, read: 0, hasStored: true })
  })

  test('lines that may be sent count at once, and a mark that knows less does not take them back', () => {
    const sent = linesOf(checkpoint).join('') + sentLine(1, 800, 'sum-800')
    const file = { path: begun.name, stat: stats, bytes: 800, sum: 'sum-800' }
    expect(read(sent).inputs[0]).toEqual({ ...begun, file })
    expect(read(sent + markLine(moved) + wholeLine(whole)).inputs[0]).toEqual({ ...moved, file })
  })

  test('an input that an older Sluice has read is known by its checksum from the next reading on', () => {
    const four = inputs[3] ?? begun
    const file = { path: '/x', stat: stats, bytes: 600, sum: 'sum-600' }
    const mark = markLine({ ...four, file }) + wholeLine(whole)
    for (const more of [mark, sentLine(4, 600, 'sum-600'), sentLine(4, 600, 'sum-600') + mark]) {
      const { inputs: known } = read(linesOf(checkpoint).join('') + more)
      expect(known[3]?.file).toEqual({ path: undefined, stat: undefined, bytes: 600, sum: 'sum-600' })
    }
    const unread = markLine({ ...four, status: 'failed' }) + wholeLine(whole)
    expect(read(linesOf(checkpoint).join('') + unread).inputs[3]?.file?.old).toEqual(old)
  })
})

describe('a crash', () => {
  /** Checkpoints of a run that begins and moves three inputs, as the text before each and what was added. */
  const steps = (): readonly string[] => {
    const file = (bytes: number) => ({ path: 'n', stat: stats, bytes, sum: `sum-${bytes}` })
    const at = (id: number, document: number, status: CheckpointInput['status'] = 'begun'): CheckpointInput => ({
      ...begun,
      id,
      name: `ä-${id}`,
      token: `t${id}`,
      status,
      mark: { ...begun.mark, document, offset: document * 10, tail: 0 },
      read: document,
      file: file(document * 10 + 50),
    })
    return [
      inputLine(at(11, 1)),
      sentLine(11, 200, 'sum-200'),
      markLine(at(11, 9)) + wholeLine({ ...whole, written: '1', left: 3 }),
      inputLine(at(12, 1)) + sentLine(11, 300, 'sum-300'),
      markLine(at(11, 20, 'finished')) + markLine(at(12, 4)) + wholeLine({ ...whole, written: '2', left: 2 }),
      sentLine(12, 900, 'sum-900'),
      inputLine(at(13, 1)) + markLine(at(13, 2, 'failed')) + wholeLine({ ...whole, written: '3', status: 'failed' }),
    ]
  }

  test(
    'at any byte leaves the state of the last whole checkpoint, and all that may be sent by then',
    { tags: 'long' },
    () => {
      const start = Buffer.from(linesOf(checkpoint).join(''))
      const text = Buffer.concat([start, Buffer.from(steps().join(''))])
      const states = new Map<number, Checkpoint>()
      let whole: Checkpoint | undefined
      for (let end = start.length; end <= text.length; end += 1) {
        const state = read(text.subarray(0, end))
        const isWholeLine = text[end - 1] === 0x0a
        // A torn line counts as not written.
        if (!isWholeLine) expect(state).toEqual(states.get(text.lastIndexOf('\n', end - 1) + 1))
        states.set(end, state)
        const line = text.subarray(text.lastIndexOf('\n', end - 2) + 1, end).toString()
        if (isWholeLine && line.startsWith('{')) whole = state
        const { inputs: _, ...counted } = whole ?? state
        expect(state).toMatchObject(counted)
        for (const { id, status, mark, read, file } of whole?.inputs ?? []) {
          const now = state.inputs.find(input => input.id === id)
          expect(now).toMatchObject({ status, mark, read })
          expect(now?.file?.bytes ?? 0).toBeGreaterThanOrEqual(file?.bytes ?? 0)
        }
      }
      const last = states.get(text.length)
      expect(last).toMatchObject({ status: 'failed', written: '3' })
      expect([...(last?.inputs ?? [])].slice(-3)).toMatchObject([
        { id: 11, status: 'finished', read: 20, file: { bytes: 300, sum: 'sum-300' } },
        { id: 12, status: 'begun', read: 4, file: { bytes: 900, sum: 'sum-900' } },
        { id: 13, status: 'failed', read: 2 },
      ])
      // Each of the seven steps leaves another state.
      expect(new Set([...states.values()].map(state => JSON.stringify(state))).size).toBeGreaterThanOrEqual(8)
    },
  )

  test('of a machine that left zeros behind the end leaves the same', async () => {
    const journal = await begin()
    await journal.close()
    const before = await runIn(path)
    await appendFile(path, Buffer.alloc(5000))
    expect(await runIn(path)).toEqual(before)
  })

  test('is over when the run continues: the torn line is not in its new file', async () => {
    await (await begin()).close()
    await appendFile(path, '["mark",1,"f')
    const journal = await begin(await runIn(path))
    await journal.add(wholeLine({ ...whole, left: 1 }), true)
    await journal.close()
    expect(await runIn(path)).toEqual({ ...checkpoint, left: 1 })
  })
})

describe('a file that is broken', () => {
  const all = () => linesOf(checkpoint)

  test.each([
    ['a line that is no JSON', '["input",1,', 'is not JSON'],
    ['an empty line', '', 'is not JSON'],
    ['a mark of no input', '["mark",99,"b",2,2,9,0,1,1]', 'does not have the expected form'],
    ['a mark without its numbers', '["mark",1,"b",2,2]', 'does not have the expected form'],
    [
      'a mark whose place is elsewhere',
      '["mark",7,"b",2,2,9,0,1,1,{"place":"elsewhere"}]',
      'does not have the expected form',
    ],
    ['an input without a name', '["input",99]', 'does not have the expected form'],
  ])('is named with its line: %s', (_, line, problem) => {
    const lines = all()
    // What is wrong with a mark shows at its checkpoint, which is the last line.
    // An earlier mark of the same input would not count.
    const own = lines.findIndex(one => one.startsWith(line.slice(0, '["mark",1'.length)))
    for (let at = Math.max(1, own + 1); at < lines.length; at += 1) {
      const text = [...lines.slice(0, at), `${line}\n`, ...lines.slice(at)].join('')
      const number = line.startsWith('["mark"') ? lines.length + 1 : at + 1
      expect(parseJournal(PackedText.of(Buffer.from(text)))).toBe(`it is broken: line ${number} ${problem}`)
    }
  })

  test('is named where no run or no checkpoint is in it', () => {
    const [head = '', ...rest] = all()
    const cases: [string, string][] = [
      ['', 'it is not the state of a run'],
      ['x\n', 'it is broken: line 1 is not JSON'],
      ['[]\n', 'it is not the state of a run'],
      ['{}\n', 'it is broken: its first line is not that of a run'],
      [head.replace('"sluice":2', '"sluice":3'), 'a newer version of Sluice wrote it (version 3)'],
      [head, 'it is broken: it has no checkpoint'],
      [head + rest.slice(0, -1).join(''), 'it is broken: it has no checkpoint'],
    ]
    for (const [text, problem] of cases) expect(parseJournal(PackedText.of(Buffer.from(text)))).toBe(problem)
  })

  test('is named where anything that a resume needs is missing or of another kind', () => {
    const problemWith = (number: number, path: readonly string[], value: unknown) => {
      const lines = all()
      const line = JSON.parse(lines.at(number) ?? '') as Record<string, unknown>
      const owner = path.slice(0, -1).reduce((part, key) => part[key] as Record<string, unknown>, line)
      const key = path.at(-1) ?? ''
      if (value === undefined) delete owner[key]
      else owner[key] = value
      return parseJournal(
        PackedText.of(
          Buffer.from([...lines.slice(0, number), JSON.stringify(line), ...lines.slice(number + 1)].join('\n')),
        ),
      )
    }
    const head = ['run', 'began', 'scope', 'key', 'sources', 'options'].map(key => [0, [key]] as const)
    const fields = [['status'], ['written'], ['target'], ['target', 'index'], ['isDoubtful'], ['left'], ['counts']]
    const last = [...fields, ['counts', 'read'], ['rejections']].map(path => [all().length - 1, path] as const)
    for (const [number, path] of [...head, ...last])
      for (const value of [undefined, null, { of: 'another kind' }])
        if (path[0] !== 'options' || value === undefined)
          expect(problemWith(number, path, value), path.join()).toMatch(/^it is broken: /)
    expect(problemWith(all().length - 1, ['counts', 'created'], '7')).toMatch(/^it is broken: /)
  })

  test('is refused, and never half a state, at whatever byte its first checkpoint ends', () => {
    const text = Buffer.from(all().join(''))
    for (let end = 0; end < text.length; end += 1)
      expect(parseJournal(PackedText.of(text.subarray(0, end)))).toBeTypeOf('string')
  })
})

/** The lines of the file that a run begins with. */
function linesOf({ inputs: known, ...run }: Checkpoint): string[] {
  const { status, written, target, isDoubtful, left, counts, rejections, deadLetters, ...head } = run
  return [
    `${JSON.stringify({ sluice: 2, ...head })}\n`,
    ...[...known].flatMap(input => [
      ...(input.since === undefined ? [] : [sinceLine(input.since)]),
      inputLine(input),
      markLine(input),
    ]),
    wholeLine({ status, written, target, isDoubtful, left, counts, rejections, deadLetters }),
  ]
}
