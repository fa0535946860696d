/** A receiver whose disk is full, whose cluster keeps silent, or whose state is not what it was. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { lines, post, start, stored } from '../../support/lab/serve-world.js'
import { index, lab, path, shareLab } from '../../support/lab/shared-lab.js'

shareLab()

const mounted: string[] = []
afterEach(() => {
  for (const one of mounted.splice(0)) execFileSync('umount', ['-l', one])
})

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0
if (!canMount) console.warn('skipped: a test of a full disk: only root may mount one')

test.skipIf(!canMount)(
  'a full disk acknowledges nothing, and is emptied once the cluster lets it',
  { tags: 'long' },
  async () => {
    const disk = path('disk')
    await mkdir(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk])
    mounted.push(disk)
    await using serving = await start({ stateDir: join(disk, 'state') })
    lab.control.register('none')
    let accepted = 0
    const answers = new Set<number>()
    for (let posts = 0; posts < 30; posts += 1) {
      const body = lines(10_000, posts * 10_000)
      const { status } = await post(body)
      answers.add(status)
      if (status === 202) accepted += 10_000
    }
    expect([...answers].toSorted((a, b) => a - b)).toEqual([202, 507])
    expect(accepted).toBeGreaterThan(50_000)
    // To the last byte: nothing is left for a checkpoint.
    await writeFile(join(disk, 'filler'), Buffer.alloc(4 << 20)).catch(() => undefined)
    lab.control.register('both')
    await expect.poll(() => serving.status().waiting.bytes).toBe(0)
    const told = serving.events.flatMap(event => (event.type === 'warning' ? [event.message] : []))
    expect(told).toContainEqual(expect.stringMatching(/^Sluice continues without a checkpoint: .*the disk is full/))
    expect(lab.control.count(index)).toBe(accepted)
    expect(new Set(stored()).size).toBe(accepted)
    expect(await serving.close()).toMatchObject({ status: 'finished', accepted, rejected: 0 })
  },
)

test(
  'a cluster that keeps silent does not keep it from ending, and what is left is loaded once',
  { tags: 'long' },
  async () => {
    {
      await using serving = await start({ graceMs: 500 })
      lab.control.plant({ hold: { stored: true } })
      expect((await post(lines(20))).status).toBe(202)
      await expect.poll(() => lab.control.count(index)).toBe(20)
      expect(await serving.close()).toMatchObject({
        status: 'interrupted',
        failure: { code: 'RUN_INTERRUPTED' },
        accepted: 20,
        waiting: { documents: 20 },
      })
      lab.control.heal()
    }
    await using next = await start()
    await expect.poll(() => next.status().waiting.bytes).toBe(0)
    expect(await next.close()).toMatchObject({ status: 'finished', read: 20, duplicate: 20, created: 0 })
    expect(lab.control.count(index)).toBe(20)
  },
)

test(
  'other options than those that a part was begun with do not keep it from being loaded once',
  { tags: 'long' },
  async () => {
    {
      await using serving = await start({ graceMs: 500, batchDocs: 10, concurrency: 1 })
      // The first two requests are stored and answered, the third is stored and has no answer.
      lab.control.plant({ hold: { after: 2, stored: true } })
      expect((await post(lines(50))).status).toBe(202)
      await expect.poll(() => lab.control.count(index)).toBe(30)
      expect((await serving.close()).status).toBe('interrupted')
      lab.control.heal()
    }
    await using next = await start({ op: 'index' })
    await expect.poll(() => next.status().waiting.bytes).toBe(0)
    expect(next.events).toContainEqual({
      type: 'warning',
      message: expect.stringMatching(
        /^Sluice continues without a checkpoint: .*op was create but is now index/,
      ) as unknown,
    })
    expect(await next.close()).toMatchObject({ status: 'finished', read: 50, created: 20, duplicate: 30 })
    expect(lab.control.count(index)).toBe(50)
  },
)

test.each(['', 'nonsense', 'null', '[]', '{"cluster":7,"index":["x"]}', '{"index":"x"}'])(
  'what waits for another index is left alone, although the file that names it holds %j',
  { tags: 'long' },
  async text => {
    const other = path('state/serve/other')
    await mkdir(join(other, 'segments'), { recursive: true })
    await writeFile(join(other, 'segments/1.ndjson'), '{}\n')
    await writeFile(join(other, 'target.json'), text)
    await using serving = await start()
    expect(serving.events).toContainEqual({
      type: 'warning',
      message: expect.stringContaining('Its target.json is damaged, so Sluice does not know their target') as string,
    })
    expect(await serving.close()).toMatchObject({ status: 'finished', read: 0 })
  },
)

test('documents that wait for another index are named, and stay', async () => {
  lab.control.register('none')
  {
    await using serving = await start({ acceptAnyway: true, index: `${index}-other` })
    expect((await post(lines(5))).status).toBe(202)
    expect((await serving.close()).status).toBe('interrupted')
  }
  lab.control.register('both')
  await using next = await start()
  const told = next.events.flatMap(event => (event.type === 'warning' ? [event.message] : []))
  expect(told).toEqual([
    expect.stringMatching(new RegExp(`^40 bytes in .* are not yet loaded into ${index}-other of https://localhost`)),
  ])
  expect(await next.close()).toMatchObject({ status: 'finished', read: 0 })
  expect(await readdir(path('state/serve'))).toHaveLength(2)
})
