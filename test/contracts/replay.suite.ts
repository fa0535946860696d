import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Refused, ingest, replay } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** What was refused once is sent again. */
export function describeReplay(world: () => World): void {
  const base = () => loadThrough(world(), world().proxy.http)

  describe('dead letters', () => {
    test('are stored byte for byte under their first ids once they are repaired, and found stored by a second replay', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'contract-'))
      try {
        const index = newIndex()
        const [first, second] = [join(folder, 'first.ndjson'), join(folder, 'second.ndjson')]
        expect(await ingest({ ...base(), source: [{ n: 1 }].values(), index })).toMatchObject({ created: 1 })
        const lines = ['{ "n":"hunter2",  "digits":1234567890123456789 }', '[7]', '{"n":"three"}']
        const source = Buffer.from(`${lines.join('\n')}\n`)
        const loaded = await ingest({ ...base(), source, format: 'ndjson', index, deadLetters: first })
        expect(loaded).toMatchObject({ created: 0, rejected: 3 })
        expect(JSON.stringify(loaded)).not.toContain('hunter2')

        const text = await readFile(first, 'utf8')
        await writeFile(first, text.replace('"n":"hunter2"', '"n":2').replace('"line":"[7]"', '"document":{"n":7}'))
        const replayed = await replay({ ...base(), source: first, deadLetters: second })
        expect(replayed).toMatchObject({ created: 2, rejected: 1, duplicate: 0 })
        expect(replayed.rejections).toMatchObject([{ field: 'n', documents: 1 }])
        const [left = '', ...others] = (await readFile(second, 'utf8')).trimEnd().split('\n')
        expect(others).toEqual([])
        expect(JSON.parse(left)).toMatchObject({
          attempts: 2,
          index,
          origin: { document: 3 },
          document: { n: 'three' },
        })

        const ids = [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id ?? '')
        const stored = await Promise.all(ids.map(async id => await world().source(index, id)))
        expect(stored.filter(one => one !== undefined).toSorted()).toEqual(
          ['{ "n":2,  "digits":1234567890123456789 }', '{"n":7}'].toSorted(),
        )
        expect(await replay({ ...base(), source: first })).toMatchObject({ created: 0, duplicate: 2, rejected: 1 })
        expect(await world().count(index)).toBe(3)
      } finally {
        await rm(folder, { recursive: true })
      }
    })

    test('of long documents, whose values the cluster quotes as a whole, are small, and a replay reads the documents from their file', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'contract-'))
      try {
        const [index, other] = [newIndex(), newIndex()]
        const [source, deadLetters] = [join(folder, 'in.ndjson'), join(folder, 'dead.ndjson')]
        expect(await ingest({ ...base(), source: [{ n: 1 }].values(), index })).toMatchObject({ created: 1 })
        // An escaped character takes two bytes again.
        const long = ['x'.repeat(4_000_000), '\\"é'.repeat(1_000_000)].map(text => `{"n":"${text}"}`)
        await writeFile(source, ['{"n":2}', ...long].map(line => `${line}\n`).join(''))
        const loaded = await ingest({ ...base(), source, index, deadLetters })
        expect(loaded).toMatchObject({ created: 1, rejected: 2, unknown: 0, retries: 0 })
        expect(loaded.rejections).toMatchObject([{ type: 'document_parsing_exception', field: 'n', documents: 2 }])

        const text = await readFile(deadLetters, 'utf8')
        expect(text.length).toBeLessThan(2 * 6000)
        const replayed = await replay({ ...base(), source: deadLetters, index: other })
        expect(replayed).toMatchObject({ created: 2, rejected: 0 })
        const ids = text
          .trimEnd()
          .split('\n')
          .map(line => (JSON.parse(line) as { readonly id: string }).id)
        const [first, second] = await Promise.all(ids.map(async id => await world().source(other, id)))
        expect([first, second]).toEqual(long)
      } finally {
        await rm(folder, { recursive: true })
      }
    })

    test('do not repeat the document in the reason', async () => {
      const refused: Refused[] = []
      const receipt = await ingest({
        ...base(),
        source: Buffer.from('{"text":"hunter2","n":1,"n":2}\n'),
        index: newIndex(),
        onEvent: event => event.type === 'rejected' && refused.push(...event.documents),
      })
      expect(receipt).toMatchObject({ rejected: 1 })
      expect(refused[0]?.reason).toMatch(/Duplicate field/)
      expect(refused[0]?.reason).not.toContain('hunter2')
    })
  })
}
