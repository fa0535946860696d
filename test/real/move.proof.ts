import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchCorpus } from '../first-try/fetch.js'
import { killWhen } from '../support/command/kill.js'
import { seeded } from '../support/random/seeded.js'
import { movedDocument, refusedIds } from './move-documents.js'
import { readAndDrop } from './move-peers.js'
import { describeElasticdump } from './describe-elasticdump.js'
import {
  asked, type Command, compareByScroll, compareDeep, fillOld, fillWithFiles, makeTarget, moveArgs, type Moving, receiptOf, rejectedIds, SHARDS, start, store } from './move-world.js' // prettier-ignore
import { describeOnRealServers } from './on-real-servers.js'
import { newOwner, type Owner } from './servers/owner.js'
import { type OldNode, startOldNode } from './servers/old-node.js'

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 1_000_000)
const KILLS = Number(process.env.KILLS ?? 30)
const SEED = Number(process.env.SEED ?? 1)
const ROUNDS = Number(process.env.ROUNDS ?? 2)
const HEAP = process.env.HEAP ?? '4g'
const OLD = 'logs'
const MOST_BYTES = 130 * 1024 * 1024

describeOnRealServers({ major: 9, heap: HEAP }, world => {
  let owner: Owner
  let old: OldNode
  let folder: string
  let refused: readonly string[]
  const moving = (): Moving => ({ world: world(), old, folder, documents: DOCUMENTS, from: OLD })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-move-'))
    owner = await newOwner()
    old = await startOldNode(owner, HEAP)
    await fillOld(moving())
    refused = refusedIds(DOCUMENTS)
    // The comparison by scroll goes past the proxy.
    await world().register('everyone')
    const size = (await asked(old.ask, 'GET', `/_cat/indices/${OLD}?h=store.size`)).trim()
    console.log(`${DOCUMENTS.toLocaleString('en')} documents, ${size}, ${refused.length} of them refused by the target`)
  })
  afterAll(async () => {
    await owner[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  /** Both indices are equal, as Sluice and another program see them, and the dead letters hold exactly what the target refuses. */
  async function expectEqual(index: string, run: string): Promise<number> {
    const { seen, command } = await compareDeep(moving(), run)
    const { ok, documents, equal, rejected, missing, different, unread, onlyInTarget } = seen
    const [source, target] = compareByScroll(moving(), index, refused)
    console.log(
      `${index}: verify --deep ${JSON.stringify({ ok, documents, equal, rejected, missing, different, unread, onlyInTarget })} in ${command.seconds().toFixed(1)} s, at most ${mb(command.peakBytes())}\n  by scroll: source ${JSON.stringify(source)}, target ${JSON.stringify(target)}`,
    )
    expect(seen).toMatchObject({ ok: true, missing: 0, different: 0, unread: 0, onlyInTarget: 0 })
    expect(seen).toMatchObject({ documents: source.documents + refused.length, rejected: refused.length })
    expect(target).toEqual(source)
    expect(rejectedIds(moving(), index).toSorted()).toEqual([...refused].toSorted())
    expect(command.peakBytes()).toBeLessThan(MOST_BYTES)
    return command.seconds()
  }

  test('an index is moved as fast as it can be read or written, and is equal', async () => {
    await makeTarget(moving(), 'moved')
    const load = start(moving(), moveArgs(moving(), 'moved'))
    const receipt = receiptOf(await load.running.ended)
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: refused.length, duplicate: 0 })
    await expectEqual('moved', receipt.run)

    const reading = await readAndDrop({ ...old, index: OLD, shards: SHARDS })
    const pull = start(moving(), ['pull', `elasticsearch:${OLD}`, '--from', old.url, '--output', 'dump.ndjson'])
    expect(await pull.running.ended).toMatchObject({ code: 0 })
    const dump = (statSync(join(folder, 'dump.ndjson')).size / 1e6).toFixed(0)
    console.log(
      `first move, of a target that was just started: ${shown(load)}\nreading alone (pages dropped): ${reading.seconds.toFixed(1)} s, ${(reading.bytes / 1e6).toFixed(0)} MB read\npull to a file: ${shown(pull)}, ${dump} MB`,
    )
    // In turn: Elasticsearch gets faster while its code is compiled, and slower while it merges.
    const ratios: number[] = []
    for (let round = 1; round <= ROUNDS; round += 1) {
      const timed = async (index: string, args: readonly string[]) => {
        await makeTarget(moving(), index)
        const command = start(moving(), args)
        expect(receiptOf(await command.running.ended)).toMatchObject({ created: receipt.created })
        await asked(world().ask, 'DELETE', `/${index}`)
        return command
      }
      const letters = ['--dead-letters', `written-${round}.dead.ndjson`]
      const write = await timed(`written-${round}`, ['ingest', 'dump.ndjson', '--index', `written-${round}`, ...letters, '--json']) // prettier-ignore
      const move = await timed(`again-${round}`, moveArgs(moving(), `again-${round}`))
      ratios.push(move.seconds() / Math.max(reading.seconds, write.seconds()))
      console.log(`round ${round}: writing alone (from that file): ${shown(write)}; moving: ${shown(move)}`)
      expect(move.peakBytes()).toBeLessThan(MOST_BYTES)
    }
    console.log(`moving / the slower of both: ${ratios.map(ratio => ratio.toFixed(2)).join(', ')}`)
    expect(load.peakBytes()).toBeLessThan(MOST_BYTES)
    rmSync(join(folder, 'dump.ndjson'))
  })

  test('documents of files that others made are moved', async () => {
    const { files } = fetchCorpus()
    const paths = files.map(({ path }) => path)
    const documents = await fillWithFiles(moving(), 'files', paths)
    const other: Moving = { ...moving(), from: 'files', documents }
    const load = start(other, moveArgs(other, 'files', '--mapping', 'copy'))
    const receipt = receiptOf(await load.running.ended)
    console.log(
      `${documents.toLocaleString('en')} documents of ${paths.length} files: ${load.seconds().toFixed(1)} s, at most ${mb(load.peakBytes())}`,
    )
    expect(receipt).toMatchObject({ read: documents, created: documents, rejected: 0 })
    const { seen } = await compareDeep(other, receipt.run)
    expect(seen).toMatchObject({ ok: true, documents, equal: documents, missing: 0, different: 0, onlyInTarget: 0 })
    const [source, target] = compareByScroll(other, 'files', [])
    expect([source.documents, target]).toEqual([documents, source])
    expect(load.peakBytes()).toBeLessThan(MOST_BYTES)
  })

  test(`loads killed ${KILLS} times, with a restart of the old cluster, lose and double nothing`, async () => {
    const random = seeded(SEED)
    let kills = 0
    let restarts = 0
    let peak = 0
    for (let round = 1; kills < KILLS; round += 1) {
      const index = `killed-${round}`
      await makeTarget(moving(), index)
      const before = kills
      for (;;) {
        const load = start(moving(), moveArgs(moving(), index))
        if (restarts === 0 && kills >= KILLS / 2) {
          restarts += 1
          const stored = await world().count(index)
          const isOver = () => load.running.child.exitCode !== null
          await expect.poll(async () => isOver() || (await world().count(index)) > stored).toBe(true)
          await old.restart()
        }
        const until = performance.now() + (kills < KILLS ? random.below(random.chance(0.4) ? 900 : 4000) : Infinity)
        const ended = await killWhen(load.running, () => performance.now() >= until)
        peak = Math.max(peak, load.peakBytes())
        if (ended === undefined) {
          kills += 1
          continue
        }
        const receipt = receiptOf(ended)
        const { created, duplicate, rejected, read } = receipt
        expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: refused.length, unknown: 0 })
        expect(created + duplicate).toBe(DOCUMENTS - refused.length)
        console.log(`${index}: ${kills - before} kills, ${restarts} restarts; ${JSON.stringify({ read, created, duplicate, rejected })}, at most ${mb(peak)}`) // prettier-ignore
        await expectEqual(index, receipt.run)
        break
      }
    }
    expect({ kills, restarts }).toEqual({ kills: KILLS, restarts: 1 })
    expect(peak).toBeLessThan(MOST_BYTES)
  })

  test('an index that changes while it is read is equal after the same command ran again', async () => {
    const random = seeded(SEED + 1)
    await makeTarget(moving(), 'changing')
    const writing = { isOver: false, written: 0 }
    const write = async () => {
      for (let n = DOCUMENTS + 1; !writing.isOver; n += 50) {
        const added = Array.from({ length: 50 }, (_, at) => ({ ...movedDocument(n + at), isRefused: false, text: `{"added":${n + at}}` })) // prettier-ignore
        const changed = Array.from({ length: 50 }, () => movedDocument(1 + random.below(DOCUMENTS)))
          .filter(({ isRefused }) => !isRefused)
          .map(document => ({ ...document, text: document.text.replace('{', `{"changed":${n},`) }))
        await store(old, OLD, [...added, ...changed])
        writing.written += added.length + changed.length
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
    const writer = write()
    const args = moveArgs(moving(), 'changing', '--op', 'index')
    for (let kills = 0; kills < 3;) {
      const until = performance.now() + 500 + random.below(2000)
      if ((await killWhen(start(moving(), args).running, () => performance.now() >= until)) === undefined) kills += 1
      else break
    }
    receiptOf(await start(moving(), args).running.ended)
    writing.isOver = true
    await writer
    const last = receiptOf(await start(moving(), args).running.ended)
    console.log(`changing: ${writing.written} documents were written meanwhile, ${last.read} read by the last command`)
    await expectEqual('changing', last.run)
  })

  describeElasticdump(moving)
})

function shown({ seconds, peakBytes }: Command): string {
  const rate = Math.round(DOCUMENTS / seconds()).toLocaleString('en')
  return `${seconds().toFixed(1)} s, ${rate} documents/s, at most ${mb(peakBytes())}`
}

function mb(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`
}
