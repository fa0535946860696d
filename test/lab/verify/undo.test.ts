// @module-tag long
import { appendFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type UndoOptions, rollback, undo } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { forgetRun } from '../../../src/cli/commands/run-list.js'
import { rounds } from '../../support/rounds.js'
import { seeded } from '../../support/random/seeded.js'
import { type RunWorld, codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

async function takeBack({ stateDir, way }: RunWorld, run: string, more: Partial<UndoOptions> = {}) {
  return await undo({ ...(await way()), run, stateDir, ...more })
}

async function tokenOf(world: RunWorld): Promise<string> {
  return (await world.checkpoint()).inputs[0]?.token ?? ''
}

async function isForgotten({ stateDir }: RunWorld): Promise<boolean> {
  return (await readdir(join(stateDir, 'runs'))).length === 0
}

describe('undo', () => {
  test('deletes what the run created and nothing else; the same load then starts afresh', async () => {
    await using world = await openRunWorld(lab)
    await world.bulk([{ create: { _id: 'mine' } }, { n: 1 }])
    await writeFile(world.path('other.ndjson'), lines(10))
    await world.load('other.ndjson', { stateDir: world.path('other') })
    await writeFile(world.path('a.ndjson'), `${lines(2500)}no\n`)
    const { run } = await world.load('a.ndjson')
    const dry = await takeBack(world, run, { dryRun: true })
    expect(dry).toMatchObject({
      dryRun: true,
      isComplete: false,
      found: 2500,
      wouldDelete: 2500,
      deleted: 0,
      gone: 0,
    })
    expect(lab.control.count(world.index)).toBe(2511)
    const undone = await takeBack(world, run)
    expect(undone).toMatchObject({
      run,
      isComplete: true,
      documents: 2501,
      found: 2500,
      deleted: 2500,
      wouldDelete: 0,
      gone: 0,
      changed: 0,
      failed: 0,
      notes: [],
    })
    expect(lab.control.count(world.index)).toBe(11)
    expect(await isForgotten(world)).toBe(true)
    const again = await world.load('a.ndjson')
    expect(again).toMatchObject({ created: 2500, duplicate: 0 })
    expect(again.run).not.toBe(run)
  })

  test('leaves what was written again since, unless it is forced', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(100))
    const { run } = await world.load('a.ndjson')
    const token = await tokenOf(world)
    await world.bulk([{ index: { _id: `${token}-7` } }, { n: 700 }, { delete: { _id: `${token}-8` } }])
    expect(await takeBack(world, run)).toMatchObject({
      isComplete: false,
      found: 99,
      deleted: 98,
      gone: 1,
      changed: 1,
      failed: 0,
      changedIds: [`${token}-7`],
    })
    expect(lab.control.source(world.index, `${token}-7`)?.toString()).toBe('{"n":700}')
    expect(await isForgotten(world)).toBe(false)
    expect(await takeBack(world, run, { force: true })).toMatchObject({
      isComplete: true,
      deleted: 1,
      gone: 99,
      changed: 0,
    })
    expect(lab.control.count(world.index)).toBe(0)
  })

  test('a document that is written between the look and the deletion stays', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(100))
    const { run } = await world.load('a.ndjson')
    const token = await tokenOf(world)
    const { Deleter } = await import('../../../src/programs/verify/undo.js')
    const { openRun } = await import('../../../src/programs/verify/open-run.js')
    const { readVerifyOptions } = await import('../../../src/programs/verify/verify-options.js')
    const { findDocuments } = await import('../../../src/route/cluster/find-documents.js')
    const options = readVerifyOptions({ ...(await world.way()), run, stateDir: world.stateDir })
    await using opened = await openRun(options)
    const wanted = [1, 2, 3].map(number => ({ id: `${token}-${number}` }))
    const looked = await findDocuments(opened.cluster, { index: world.index, by: 'id', wanted })
    if (looked.kind !== 'found') throw new Error(looked.kind)
    await world.bulk([{ index: { _id: `${token}-2` } }, { n: 200 }, { delete: { _id: `${token}-3` } }])
    const deleter = new Deleter(opened, options)
    await deleter.remove(looked.documents)
    expect(deleter.result()).toMatchObject({
      deleted: 1,
      changed: 1,
      vanished: 1,
      failed: 0,
      changedIds: [`${token}-2`],
    })
    expect(lab.control.source(world.index, `${token}-2`)?.toString()).toBe('{"n":200}')
  })

  test('cut off in the middle, it is called again', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(20_000))
    const { run } = await world.load('a.ndjson', { batchDocs: 5000 })
    const controller = new AbortController()
    const onProgress = () => controller.abort('test')
    expect(await codeOf(takeBack(world, run, { signal: controller.signal, onProgress }))).toContain('RUN_INTERRUPTED')
    const left = lab.control.count(world.index)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(20_000)
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: left, gone: 20_000 - left })
    expect(lab.control.count(world.index)).toBe(0)
  })

  test('a lost answer and busy items change nothing of the account', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(500))
    const { run } = await world.load('a.ndjson')
    lab.control.plant({
      drop: { times: 1 },
      items: { status: 429, type: 'es_rejected_execution_exception', after: 600, times: 20 },
    })
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, found: 500, deleted: 500, gone: 0 })
    expect(lab.control.count(world.index)).toBe(0)
  })

  test('a refused deletion is reported, and the run is kept', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(50))
    const { run } = await world.load('a.ndjson')
    lab.control.plant({ items: { status: 403, type: 'cluster_block_exception', times: 5 } })
    expect(await takeBack(world, run)).toMatchObject({
      isComplete: false,
      found: 50,
      deleted: 45,
      failed: 5,
      failures: [{ status: 403, type: 'cluster_block_exception', documents: 5 }],
    })
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 5, gone: 45 })
  })

  test('takes what a killed process had sent with it', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(5000))
    const { run } = await world.load('a.ndjson')
    await world.killedAt(1000)
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, documents: 5000, deleted: 5000 })
    expect(lab.control.count(world.index)).toBe(0)
  })

  test('leaves what stands behind the end of a finished run: it is not its own', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(10))
    const { run } = await world.load('a.ndjson')
    await world.bulk([{ create: { _id: `${await tokenOf(world)}-11` } }, { n: 11 }])
    const undone = await takeBack(world, run)
    expect(undone).toMatchObject({ deleted: 10, isComplete: true })
    expect(undone.notes).toEqual([expect.stringContaining('are not its own') as string])
    expect(lab.control.count(world.index)).toBe(1)
  })

  test('leaves what an earlier run loaded of the same file', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(50).trimEnd())
    await world.load('a.ndjson')
    // The last line grows by more than its line end, so it is sent again.
    await appendFile(world.path('a.ndjson'), ` \n${lines(10, 51)}`)
    const { run, duplicate } = await world.load('a.ndjson')
    expect(duplicate).toBe(1)
    const undone = await takeBack(world, run)
    expect(undone).toMatchObject({ deleted: 10, isComplete: true })
    expect(undone.notes).toEqual([expect.stringContaining('-50 was stored by an earlier run') as string])
    expect(lab.control.count(world.index)).toBe(50)
  })

  test('deletes from every index behind a data stream', async () => {
    await using world = await openRunWorld(lab)
    lab.control.createDataStream(world.index)
    await writeFile(world.path('a.ndjson'), lines(200))
    let rolled = false
    const { run } = await world.load('a.ndjson', {
      concurrency: 1,
      onEvent: event => {
        if (event.type !== 'progress' || rolled) return
        rolled = true
        lab.control.rollOver(world.index)
      },
    })
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 200 })
    expect(lab.control.count(world.index)).toBe(0)
  })

  test('is refused while the run is going on', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(300))
    const refusals: Promise<string>[] = []
    const { run } = await world.load('a.ndjson', {
      concurrency: 1,
      onEvent: event => {
        if (event.type !== 'progress' || refusals.length > 0) return
        refusals.push(world.checkpoint().then(async known => await codeOf(takeBack(world, known.run))))
        lab.control.plant({ capacity: { inFlight: 1, tookMs: 500 } })
      },
    })
    expect(await refusals[0]).toMatch(/^RUN_LOCKED: .*is being loaded/)
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 300 })
  })

  test('keeps loads and others that would undo or forget the run away while it deletes', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(300))
    const { run } = await world.load('a.ndjson')
    lab.control.plant({ stall: { method: 'POST', path: '/_bulk', times: 1 } })
    const controller = new AbortController()
    const undoing = codeOf(takeBack(world, run, { signal: controller.signal }))
    await eventually(() => expect(lab.control.struck('stall')).toBe(1))
    const locked = `RUN_LOCKED: ${world.path('a.ndjson')} is being removed from ${world.index} by the undo of run ${run}`
    const others: (() => Promise<unknown>)[] = [
      async () => await world.load('a.ndjson'),
      async () => await takeBack(world, run),
      async () => await forgetRun(world.stateDir, run),
    ]
    for (const other of others) expect(await codeOf(other())).toContain(locked)
    // It deletes nothing.
    expect(await takeBack(world, run, { dryRun: true })).toMatchObject({ wouldDelete: 300 })
    controller.abort('test')
    expect(await undoing).toContain('RUN_INTERRUPTED')
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 300 })
    expect(await readdir(join(world.stateDir, 'locks'))).toEqual([])
    expect(await world.load('a.ndjson')).toMatchObject({ created: 300 })
  })

  test('two loads and two undos at once: one has its turn, and none leaves half a load', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(60))
    const random = seeded(17)
    for (let round = 0; round < rounds(2, 100); round += 1) {
      const { run } = await world.load('a.ndjson', { batchDocs: 20 })
      const racers: (() => Promise<unknown>)[] = [
        async () => await takeBack(world, run),
        async () => await takeBack(world, run),
        async () => await world.load('a.ndjson', { batchDocs: 20 }),
        async () => await world.load('a.ndjson', { batchDocs: 20 }),
      ]
      const racing = racers.map(async racer => {
        for (let turns = random.below(300); turns > 0; turns -= 1) await immediate()
        return await codeOf(racer())
      })
      const codes = (await Promise.all(racing)).filter(code => code !== 'no failure')
      for (const code of codes) expect(code).toMatch(/^(RUN_LOCKED|RUN_UNDONE)/)
      expect([0, 60]).toContain(lab.control.count(world.index))
      await world.load('a.ndjson')
      expect(lab.control.count(world.index)).toBe(60)
    }
    expect(await readdir(join(world.stateDir, 'locks'))).toEqual([])
  })

  test('of a guarded load is refused while the alias leads to its index', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), lines(30))
    const alias = `${world.index}-alias`
    const load = async (again: boolean) => await world.load('a.ndjson', { index: undefined, swapAlias: alias, again })
    const first = await load(false)
    const second = await load(true)
    for (const more of [{}, { force: true }, { dryRun: true }]) {
      expect(await codeOf(takeBack(world, second.run, more))).toContain(
        `UNDO_BEHIND_ALIAS: undo of run ${second.run} would empty ${second.alias?.to}, the current index of the alias ${alias}. Sluice deleted nothing`,
      )
    }
    expect(lab.control.count(second.alias?.to ?? '')).toBe(30)
    await rollback({ ...(await world.way()), alias })
    expect(await takeBack(world, second.run)).toMatchObject({ isComplete: true, deleted: 30, goesBy: first.run })
    expect(lab.control.count(second.alias?.to ?? '')).toBe(0)
    expect(lab.control.count(first.alias?.to ?? '')).toBe(30)
    expect(await load(false)).toMatchObject({ run: first.run, alias: { to: first.alias?.to, switched: true } })
  })

  test('works without the input and without the dead letters', async () => {
    await using world = await openRunWorld(lab)
    await writeFile(world.path('a.ndjson'), `${lines(20)}no\n`)
    const { run } = await world.load('a.ndjson')
    await rm(world.path('a.ndjson'))
    await rm(world.path('dead.ndjson'))
    expect(await takeBack(world, run)).toMatchObject({ isComplete: true, deleted: 20, gone: 0 })
  })
})
