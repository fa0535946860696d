/** What the rest of Sluice relies on in each source. A new source is a row of `kinds.ts`. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../src/base/failure/failure.js'
import type { Source } from '../../../src/base/flow.js'
import type { CuttableFile } from '../../../src/pipeline/source/stored-file.js'
import {
  bytesOf,
  type Optional,
  type Row,
  rowsOf,
  type SourceKind,
  type SourceWorld,
  type Troubled,
} from './source-world.js'

export function describeSource({ title, again, closesAtOnce, lacks, open, many: MANY = 6000 }: SourceKind): void {
  const play = async (story: (world: SourceWorld) => Promise<void>) => {
    await using world = await open()
    await story(world)
    await world.closed()
  }
  /** A story of what not each source can do. A source that cannot do it says why. */
  const optional = <Name extends Optional>(
    name: Name,
    says: string,
    story: (able: NonNullable<SourceWorld[Name]>, world: SourceWorld) => Promise<void>,
  ) =>
    test(lacks[name] === undefined ? says : `no ${name}: ${lacks[name]}`, async () => {
      await play(async world => {
        const able = world[name]
        expect(able === undefined).toBe(lacks[name] !== undefined)
        if (able !== undefined) await story(able.bind(world) as NonNullable<SourceWorld[Name]>, world)
      })
    })

  describe(title, () => {
    test('every document is read once, in order', async () => {
      await play(async world => {
        const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
        expect(numbersIn(await read(source))).toEqual(numbersOf(rowsOf(MANY)))
      })
    })

    test('an input without documents is no fault', async () => {
      await play(async world => {
        const [source] = await world.offer({ 'a.ndjson': [] })
        expect(numbersIn(await read(source))).toEqual([])
      })
    })

    if (again === 'file' || again === 'address')
      test('it is read again from its start', async () => {
        await play(async world => {
          const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
          const first = await read(source)
          expect((await read(source)).equals(first)).toBe(true)
          expect(source?.file === undefined).toBe(again === 'address')
          expect(source?.address === undefined).toBe(again === 'file')
        })
      })

    if (again === 'place')
      test('it is read again from a place', async () => {
        await play(async world => {
          const [source] = await world.offer({ 'a.ndjson': rowsOf(1000) })
          expect(numbersIn(await read(source))).toHaveLength(1000)
          const place = source?.cursor?.placeAt(501)
          const rest = numbersIn(await readFrom(source, chunks => source?.open(chunks, 0, place)))
          expect(rest).toEqual(expect.arrayContaining(numbersOf(rowsOf(500, 501))))
          expect(rest.length).toBeLessThan(1000)
        })
      })

    if (again === 'never')
      test('it says that it cannot be read again', async () => {
        await play(async world => {
          const [source] = await world.offer({ 'a.ndjson': rowsOf(1) })
          await read(source)
          expect(source).not.toHaveProperty('file')
          expect(source).not.toHaveProperty('address')
          expect(source).not.toHaveProperty('cursor')
        })
      })

    if (again === 'file') {
      test('it resumes at any byte', async () => {
        await play(async world => {
          const bytes = bytesOf(rowsOf(MANY))
          const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
          for (const from of [0, 1, 777, bytes.length >> 1, bytes.length - 1, bytes.length])
            expect((await read(source, from)).equals(bytes.subarray(from))).toBe(true)
        })
      })

      test('it says which bytes it has read', async () => {
        await play(async world => {
          const bytes = bytesOf(rowsOf(MANY))
          const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
          await read(source)
          const whole = source?.file?.reading?.sum()
          await read(source, 777)
          expect(source?.file?.reading).toMatchObject({ bytes: bytes.length, stat: { size: bytes.length } })
          expect(source?.file?.reading?.sum()).toBe(whole)
          expect(await source?.file?.sums([0, 777, bytes.length, bytes.length + 1])).toMatchObject([
            expect.any(String),
            expect.any(String),
            whole,
            undefined,
          ])
          expect(await source?.file?.part(10, 20)).toEqual(bytes.subarray(10, 20))
        })
      })

      test('each range is read', async () => {
        await play(async world => {
          const bytes = bytesOf(rowsOf(MANY))
          const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
          const file = source?.file as CuttableFile
          for (const [from, to] of [
            [0, 10],
            [777, 100_000],
            [bytes.length - 5, bytes.length],
          ] as const) {
            const part = await readFrom(source, signal => file.between(signal, from, to))
            expect(part.equals(bytes.subarray(from, to))).toBe(true)
          }
        })
      })
    }

    test('inputs keep the order of their names', async () => {
      await play(async world => {
        const sources = await world.offer(several)
        expect(sources.map(({ id }) => id)).toEqual(sources.map((_, at) => at))
        const found: number[] = []
        for (const source of sources) found.push(...numbersIn(await read(source)))
        expect(found).toEqual(Object.values(several).flatMap(numbersOf))
      })
    })

    optional('offerMatched', 'inputs of a pattern come in the order of their numbers', async offer => {
      const sources = await offer(several)
      expect(sources.map(({ name }) => name.slice(name.lastIndexOf('/') + 1))).toEqual([
        'part-1.ndjson',
        'part-2.ndjson',
        'part-10.ndjson',
      ])
      for (const source of sources) await read(source)
    })

    optional('offerBytes', 'compressed bytes are decoded, and offsets are those of the decoded bytes', async offer => {
      const bytes = bytesOf(rowsOf(MANY))
      const source = await offer('a.ndjson.gz', gzipSync(bytes))
      expect((await read(source)).equals(bytes)).toBe(true)
      if (again === 'file') expect((await read(source, 777)).equals(bytes.subarray(777))).toBe(true)
    })

    optional('missing', 'what is not there is named', async (find, world) => {
      const error = await find().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      named(error, world, 'missing')
      expect(error).toMatchObject({ code: 'INPUT_NOT_FOUND' })
    })

    optional(
      'replaced',
      'another content behind the same name is never mixed with the first',
      async (replace, world) => {
        const { source, ...trouble } = await replace(rowsOf(MANY), rowsOf(MANY, 1, 'y'))
        const { bytes, error } = await readThrough(source, trouble)
        const letters = new Set(rowsIn(bytes).map(({ fill }) => String(fill)[0]))
        expect(letters.size).toBeLessThan(2)
        if (error === undefined) expect(numbersIn(bytes)).toHaveLength(MANY)
        else named(error, world, source.name)
      },
    )

    optional('shortened', 'an input that has become shorter fails after what was there', async (shorten, world) => {
      const { source, ...trouble } = await shorten(rowsOf(MANY))
      const { bytes, error } = await readThrough(source, trouble)
      expect(isBeginning(bytes, rowsOf(MANY))).toBe(true)
      expect(bytes.length).toBeGreaterThan(0)
      named(error, world, source.name)
    })

    optional('failing', 'a reading that fails in the middle passes on what came before', async (fail, world) => {
      const { source, ...trouble } = await fail(rowsOf(MANY))
      const { bytes, error } = await readThrough(source, trouble)
      expect(isBeginning(bytes, rowsOf(MANY))).toBe(true)
      expect(bytes.length).toBeGreaterThan(0)
      named(error, world, source.name)
    })

    optional('stalled', 'an abort ends a reading whose next bytes do not come', async (stall, world) => {
      const { source, waits } = await stall(rowsOf(10))
      const controller = new AbortController()
      const reason = new Error('the reader has enough')
      const reading = readFrom(source, () => source.open(controller.signal))
      void waits.then(() => controller.abort(reason))
      await expect(reading).rejects.toBe(reason)
      await world.closed()
    })

    test('an abort before the reading opens nothing', async () => {
      await play(async world => {
        const [source] = await world.offer({ 'a.ndjson': rowsOf(10) })
        const reason = new Error('the reader has enough')
        await expect(readFrom(source, () => source?.open(AbortSignal.abort(reason)))).rejects.toBe(reason)
      })
    })

    test('an abort in the middle ends the reading with its reason, and closes everything', async () => {
      await play(async world => {
        const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
        const controller = new AbortController()
        const reason = new Error('the reader has enough')
        let passed = 0
        const reading = async () => {
          for await (const chunk of source?.open(controller.signal) ?? []) {
            passed += chunk.length
            controller.abort(reason)
          }
        }
        await expect(reading()).rejects.toBe(reason)
        expect(passed).toBeGreaterThan(0)
        if (closesAtOnce) await atOnce(world)
      })
    })

    test('a reader that stops early closes everything', async () => {
      await play(async world => {
        const [source] = await world.offer({ 'a.ndjson': rowsOf(MANY) })
        for await (const chunk of source?.open(new AbortController().signal) ?? []) if (chunk.length > 0) break
        if (closesAtOnce) await atOnce(world)
      })
    })
  })
}

const several = {
  'part-10.ndjson': rowsOf(3, 100),
  'part-2.ndjson': rowsOf(3, 20),
  'part-1.ndjson': rowsOf(3, 10),
}

/** Fails if something is still open in this turn of the event loop. */
async function atOnce(world: SourceWorld): Promise<void> {
  const late = new Promise<never>((_, reject) => setImmediate(() => reject(new Error('something is still open'))))
  await Promise.race([world.closed(), late])
}

async function read(source: Source | undefined, from = 0): Promise<Buffer> {
  return await readFrom(source, signal => source?.open(signal, from))
}

async function readFrom(
  source: Source | undefined,
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array> | undefined,
): Promise<Buffer> {
  if (source === undefined) throw new Error('the world offers no input')
  const chunks: Buffer[] = []
  for await (const chunk of open(new AbortController().signal) ?? []) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Reads until the end or a failure. The trouble strikes when the first bytes are there. */
async function readThrough(
  source: Source,
  { strike }: Pick<Troubled, 'strike'>,
): Promise<{ readonly bytes: Buffer; readonly error: unknown }> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of source.open(new AbortController().signal)) {
      chunks.push(Buffer.from(chunk))
      if (chunks.length === 1) await strike?.()
    }
    return { bytes: Buffer.concat(chunks), error: undefined }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error }
  }
}

/** A failure of an input has a code, names the input, and shows no secret. */
function named(error: unknown, { secrets, named: shownAs }: SourceWorld, name: string): void {
  if (!isSluiceError(error)) throw new Error('it did not fail with a SluiceError', { cause: error })
  expect(error.code).toMatch(/^(?:INPUT|SOURCE|SERVICENOW)_/)
  expect(error.message).toContain(shownAs ?? name)
  const shown = JSON.stringify([error.message, error.failure, error.stack])
  for (const secret of secrets) expect(shown).not.toContain(secret)
}

/** A table writes each value as text. */
function rowsIn(bytes: Buffer): Record<keyof Row, string | number>[] {
  const lines = bytes.toString().split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line) as Record<keyof Row, string | number>)
}

function numbersIn(bytes: Buffer): number[] {
  return rowsIn(bytes).map(({ n }) => Number(n))
}

function numbersOf(rows: readonly Row[]): number[] {
  return rows.map(({ n }) => n)
}

function isBeginning(bytes: Buffer, rows: readonly Row[]): boolean {
  return numbersIn(bytes).every((n, at) => n === rows[at]?.n)
}
