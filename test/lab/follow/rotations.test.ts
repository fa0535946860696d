// @module-tag long
/** The table of rotations in docs/guide/follow.md: each cell is a test. */
import { readFileSync } from 'node:fs'
import { appendFile, copyFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { path, shareLab } from '../../support/lab/shared-lab.js'
import { follow, type Followed, freshLogs, linesOf, log, numbers, upTo } from './followed.js'

shareLab()

beforeEach(async () => {
  await freshLogs()
  await mkdir(path('logs/old'))
})

/** Takes the followed file away for the time of this number, and puts these lines in its place. */
type Rotate = (lines: string, number: number) => Promise<void>

const renamed = async (to: string, lines: string): Promise<void> => {
  await rename(log(), to)
  await writeFile(log(), lines)
}

async function pack(name: string): Promise<void> {
  const content = await readFile(name).catch(() => undefined)
  if (content === undefined) return
  await writeFile(`${name}.gz`, gzipSync(content))
  await rm(name)
}

const shift = async (ending = '') => await rename(`${log()}.1${ending}`, `${log()}.2${ending}`).catch(() => undefined)

/** By the first cell of each row. */
const rotations: Readonly<Record<string, Rotate>> = {
  'by number: `app.log.1`': async lines => {
    await shift()
    await renamed(`${log()}.1`, lines)
  },
  'by date: `app.log-20261127`': async (lines, number) => await renamed(`${log()}-2026112${number}`, lines),
  'by date before the ending: `app-2026-11-27.log`': async (lines, number) =>
    await renamed(path(`logs/app-2026-11-2${number}.ndjson`), lines),
  'always to the same name: `app.log.old`': async lines => await renamed(`${log()}.old`, lines),
  'into a folder below: `old/app.log.1`': async (lines, number) =>
    await renamed(path(`logs/old/app.ndjson.${9 - number}`), lines),
  'by number, compressed at once': async lines => {
    await shift('.gz')
    await renamed(`${log()}.1`, lines)
    await pack(`${log()}.1`)
  },
  'by number, compressed the next time (`delaycompress`)': async lines => {
    await shift()
    await renamed(`${log()}.1`, lines)
    await pack(`${log()}.2`)
  },
  'to a name of another kind: `before-1.log`': async (lines, number) =>
    await renamed(path(`logs/before-${number}.ndjson`), lines),
  'copied, then emptied (`copytruncate`)': async lines => {
    await shift()
    await copyFile(log(), `${log()}.1`)
    await truncate(log())
    await appendFile(log(), lines)
  },
  // The inode of a file that was deleted may be used again at once.
  deleted: async lines => {
    await writeFile(`${log()}.new`, lines)
    await rename(`${log()}.new`, log())
  },
}

const start = (): Followed => follow(log(), { stateDir: path('state') })

/** By the heading of each column: whether Sluice follows meanwhile, and how often the file is rotated. */
const columns: readonly { readonly isFollowing: boolean; readonly times: number }[] = [
  { isFollowing: true, times: 1 },
  { isFollowing: true, times: 2 },
  { isFollowing: false, times: 1 },
  { isFollowing: false, times: 2 },
]

/** The rows of the table, without their first cells. */
const rows = new Map(
  readFileSync(new URL('../../../docs/guide/follow.md', import.meta.url), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| ') && line.split('|').length === 7)
    .slice(2)
    .map(line => {
      const [name = '', ...cells] = line.slice(2, -2).split(' | ')
      return [name, cells] as const
    }),
)

test('the table has a row for each rotation', () => {
  expect([...rows.keys()]).toEqual(Object.keys(rotations))
})

const cells = Object.entries(rotations).flatMap(([name, rotate]) =>
  columns.map((column, at) => ({ name, rotate, ...column, cell: rows.get(name)?.[at] ?? '' })),
)

test.each(cells)('$name, follows: $isFollowing, times: $times', async ({ rotate, isFollowing, times, cell }) => {
  await writeFile(log(), linesOf(0, 10))
  const first = start()
  await first.stored(10)
  if (!isFollowing) await first.stop()
  await appendFile(log(), linesOf(10, 20))
  for (let number = 1; number <= times; number += 1) await rotate(linesOf(number * 10 + 10, number * 10 + 20), number)
  const following = isFollowing ? first : start()
  const lines = times * 10 + 20
  if (cell === 'all lines once') await following.stored(lines)
  if (cell === 'named in `gaps`') await following.heard('is gone. Sluice had read')
  const receipt = await following.stop()
  const found = numbers()
  if (cell === 'all lines once') {
    expect(receipt).toMatchObject({ exit: 0 })
    expect(found).toEqual(upTo(lines))
  } else if (cell === 'named in `gaps`') expect(receipt).toMatchObject({ exit: 1, gaps: [{ name: log() }] })
  expect(found).toEqual([...new Set(found)])
})
