import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { generationsSince, isGeneration } from '../../../../src/pipeline/source/generations.js'

test.each([
  ['app.log.1', 'logrotate'],
  ['app.log.12.gz', 'logrotate with compress'],
  ['app.log-20261127', 'logrotate with dateext'],
  ['app.log-20261127-1764201600.gz', 'logrotate with dateext and hours'],
  ['app.log.2026-11-27', 'log4j2, winston-daily-rotate-file'],
  ['app.log.2026-11-27_13', 'Python, TimedRotatingFileHandler'],
  ['app-2026-11-27.log', 'winston-daily-rotate-file'],
  ['app-2026-11-27.0.log.gz', 'logback'],
  ['app.2026-11-27.log', 'logback'],
  ['app.1.log', 'pino-roll'],
  ['app-2026-11-27T13-00-00.000.log.gz', 'lumberjack of Go'],
  ['app.log.old', 'by hand'],
  ['app.log.gz', 'gzip by hand'],
])('%s may be an earlier app.log (%s)', name => {
  expect(isGeneration('app.log', name)).toBe(true)
})

test.each([
  'app.log',
  'app-error.log',
  'app-error.log.1',
  'app-2.log',
  'application.log',
  'app.log.swp',
  'app.log.idx',
  'other.log.1',
  'app2.log',
  'app.ndjson.1',
])('%s is no earlier app.log', name => {
  expect(isGeneration('app.log', name)).toBe(false)
})

test('finds those that were written since a time, the oldest first, also in folders beside the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'generations-'))
  try {
    await mkdir(join(folder, 'archive'))
    const at = async (name: string, seconds: number) => {
      await writeFile(join(folder, name), 'x')
      await utimes(join(folder, name), seconds, seconds)
    }
    await at('app.log', 500)
    await at('app.log.1', 400)
    await at('app.log.2.gz', 300)
    await at('archive/app.log-20261127', 200)
    await at('app.log.4', 100)
    await at('other.log.1', 400)
    const found = await generationsSince(join(folder, 'app.log'), 200_000)
    expect(found.map(({ path, isPacked }) => [basename(path), isPacked])).toEqual([
      ['app.log-20261127', false],
      ['app.log.2.gz', true],
      ['app.log.1', false],
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
