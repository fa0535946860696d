/** What may happen while a command runs. A kill in this process puts back the files of an instant after which the cluster stored nothing. */
import { EventEmitter } from 'node:events'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from '../../src/lab/index.js'
import { limits } from './limits.js'
import { losses } from './losses.js'
import { serverTroubles } from './bucket.js'
import type { Ended } from './facts.js'
import type { World } from './world.js'

const rejected = { type: 'es_rejected_execution_exception', reason: 'queue is full' }

/** Plants a fault by its name. `after` and `times` count bulk requests. */
const faults: Readonly<Record<string, (after: number, times: number) => Faults>> = {
  lost: (after, times) => ({ drop: { after, times } }),
  busy: (after, times) => ({ bulk: { status: 429, after, times } }),
  failing: (after, times) => ({ bulk: { status: 503, after, times } }),
  'failing but stored': (after, times) => ({ bulk: { status: 503, after, times, stored: true } }),
  'busy items': (after, times) => ({ items: { status: 429, ...rejected, after, times } }),
  'filter closes': after => ({ filter: { after } }),
  'answer cut': (after, times) => ({ damage: { how: 'cut', after, times } }),
  'answer cut, not stored': (after, times) => ({ damage: { how: 'cut', stored: false, after, times } }),
  'answer breaks off': (after, times) => ({ damage: { how: 'short', after, times } }),
  'answer repeated': (after, times) => ({ damage: { how: 'repeated', after, times } }),
  'answer of fewer': (after, times) => ({ damage: { how: 'fewer', after, times } }),
  late: (after, times) => ({ hold: { after, times } }),
  'late, stored': (after, times) => ({ hold: { after, times, stored: true } }),
  'late, stored late': (after, times) => ({ hold: { after, times, stored: 'late' } }),
}

/** A request that is late takes longer than this, and no other one does. */
const TIME_LIMIT = '1s'

/** No command of a story takes a tenth of these turns. */
const HANG_TURNS = 600
const TURN_MS = 100

export const troubles = [
  ...Object.keys(faults),
  ...serverTroubles,
  ...Object.keys(losses),
  ...Object.keys(limits),
  'filter closed',
  'index deleted',
  'index made anew',
  'mapping narrowed',
  'rolled over',
  'alias switched',
  'stopped',
  'killed',
  'killed, stored',
]

/** Runs a command in the trouble that waits for it. After that, the world is well again. */
export async function inTrouble(world: World, run: (signals: EventEmitter) => Promise<Ended>): Promise<Ended> {
  const { kind } = world.trouble
  const over = new AbortController()
  const hang = turnsPass(over.signal).then(
    () => fail(`a command does not end${kind === 'none' ? '' : ` after: ${kind}`}`),
    async () => await new Promise<never>(() => undefined),
  )
  return await Promise.race([around(world, run), hang]).finally(() => over.abort())
}

/** Counts turns of this process, and not time: it may get little of a busy machine. */
async function turnsPass(signal: AbortSignal): Promise<void> {
  for (let turn = 0; turn < HANG_TURNS; turn += 1) await sleep(TURN_MS, undefined, { ref: false, signal })
}

function fail(what: string): never {
  throw new Error(what)
}

async function around(world: World, run: (signals: EventEmitter) => Promise<Ended>): Promise<Ended> {
  const { cluster, objects } = world.stage
  const { kind, after, times, turns } = world.takeTrouble()
  const signals = new EventEmitter()
  const loss = losses[kind]
  await objects.settle()
  const healServer = objects.plant(kind, after, times)
  if (world.way.isTable === true) cluster.tables?.plant(kind, after, times)
  try {
    if (kind === 'filter closed') await cluster.register('none')
    if (faults[kind] !== undefined) cluster.plant(faults[kind](after, times))
    if (kind.startsWith('late')) world.env['SLUICE_TIMEOUT'] = TIME_LIMIT
    loss?.prepare?.(world)
    if (loss !== undefined && after === 0) await loss.lose(world)
    if (loss !== undefined && after > 0)
      return await whenStored(world, after, async () => await loss.lose(world), run, signals)
    if (kind === 'stopped') return await whenStored(world, after, async () => void signals.emit('SIGINT'), run, signals)
    if (kind === 'mapping narrowed')
      return await whenStored(world, after, async () => await world.narrow(), run, signals)
    // Its retries must not store it behind the name a second time.
    if (kind === 'rolled over' && world.behind !== undefined) cluster.plant({ drop: { after: 0, times } })
    if (kind === 'rolled over')
      return await whenStored(world, after, async () => await world.behind?.rollOver(), run, signals)
    if (kind === 'alias switched')
      return await whenStored(world, after, async () => await world.behind?.switch(), run, signals)
    if (kind.startsWith('index ') && world.mayLoseIndex)
      return await whenStored(world, after, async () => await world.loseIndex(kind === 'index made anew'), run, signals)
    if (kind.startsWith('killed'))
      return await killed(world, kind.endsWith('stored'), { after, times, turns }, signals, run)
    return await run(signals)
  } finally {
    healServer()
    delete world.env['SLUICE_TIMEOUT']
    if (kind.startsWith('late')) await cluster.settle()
    cluster.tables?.heal()
    cluster.heal()
    await cluster.register('both')
    await loss?.restore(world)
  }
}

/** Does something as soon as so many documents are stored. */
async function whenStored(
  world: World,
  count: number,
  act: () => Promise<void>,
  run: (signals: EventEmitter) => Promise<Ended>,
  signals: EventEmitter,
): Promise<Ended> {
  const wanted = (await world.count()) + count
  const look = { isOver: false }
  const watching = (async () => {
    while (!look.isOver && (await world.count()) < wanted) await setImmediate()
    if (!look.isOver) await act()
  })()
  const ended = await run(signals)
  look.isOver = true
  await watching
  return ended
}

async function killed(
  world: World,
  isStored: boolean,
  { after, times, turns }: { readonly after: number; readonly times: number; readonly turns: number },
  signals: EventEmitter,
  run: (signals: EventEmitter) => Promise<Ended>,
): Promise<Ended> {
  const { cluster } = world.stage
  const [state, dead, kept] = [world.state, world.at('dead.ndjson'), world.at('killed')]
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept)
  // Others behind it get their answers until the process is killed.
  cluster.plant({ hold: { after, times, stored: isStored } })
  world.env['SLUICE_GRACE'] = '1ms'
  const look = { isOver: false, isKilled: false }
  let queue = world.queue
  const watching = (async () => {
    for (let left = turns; !look.isOver; await setImmediate()) {
      if (cluster.held() === 0 || (left -= 1) > 0) continue
      cluster.plant({ hold: { stored: false } })
      // A load without a memory has no state. Nobody holds the locks of a process that is gone.
      if (existsSync(state))
        cpSync(state, `${kept}/state`, { recursive: true, filter: path => !path.endsWith('.sock') })
      if (existsSync(dead)) copyFileSync(dead, `${kept}/dead`)
      queue = world.queue.afterKill()
      look.isKilled = true
      world.silence()
      // After a signal, a followed load waits for the cluster, and must be refused.
      if (world.way.plays.includes('follow')) {
        await cluster.register('none')
        cluster.heal()
      }
      signals.emit('SIGINT')
      return
    }
  })()
  const ended = await Promise.race([run(signals), watching.then(async () => await new Promise<never>(() => undefined))])
  look.isOver = true
  await watching
  delete world.env['SLUICE_GRACE']
  if (!look.isKilled) return ended
  world.queue = queue
  // What lies in sockets of the killed run is not stored either.
  await cluster.settle()
  rmSync(state, { recursive: true, force: true })
  if (existsSync(`${kept}/state`)) cpSync(`${kept}/state`, state, { recursive: true })
  removeLocks(state)
  if (existsSync(`${kept}/dead`)) copyFileSync(`${kept}/dead`, dead)
  else rmSync(dead, { force: true })
  world.tell('  killed')
  return { exit: 137, unreplayed: 0, said: '', isKilled: true }
}

/** A receiver has a state of its own in the state folder. */
function removeLocks(state: string): void {
  if (!existsSync(state)) return
  for (const path of readdirSync(state, { recursive: true, encoding: 'utf8' }))
    if (basename(path) === 'locks') rmSync(join(state, path), { recursive: true })
}
