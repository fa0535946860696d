/** Every act of a story. An act is a row: who does it, and two functions. `draw` makes its data, `play` does it. */
import type { Seeded } from '../support/random/seeded.js'
import { runCommand } from './command.js'
import type { Ended, Line } from './facts.js'
import { packingOf, unpackedName } from './packing.js'
import type { Play } from './play.js'
import type { Act } from './story.js'
import { troubles } from './trouble.js'

type Data = Readonly<Record<string, string | number | boolean>>

export interface ActRow {
  readonly name: string
  readonly who: 'user' | 'world' | 'told'
  /** How many lots it has in a draw. Default: one. */
  readonly often?: number
  draw(random: Seeded): Data
  play(play: Play, act: Act): Promise<void> | void
}

const place = (random: Seeded) => ({ at: random.below(6) })
const count = (random: Seeded) => ({ count: 1 + random.below(15), bad: random.chance(0.15) ? 1 + random.below(3) : 0 })
const nothing = () => ({})

/** Picks a file of those that stand there: so an act still means something after others were removed. */
function pick({ world }: Play, { at }: Act): string | undefined {
  const { names } = world
  return names[Number(at) % Math.max(1, names.length)]
}

function linesOf({ world }: Play, { count, bad }: Act): Line[] {
  return world.newLines(Number(count), Math.min(Number(bad), Number(count) - 1))
}

/** Whether both are packed alike, and neither is a rotated file. */
function isAlike(name: string, to: string): boolean {
  const isRotated = /\.\d+$/.test(unpackedName(name))
  return !isRotated && packingOf(name) === packingOf(to)
}

/** The name of a file after it was rotated. */
function rotated({ world }: Play, name: string): string {
  const free = (number: number) => {
    const [stem, packing] = [unpackedName(name), packingOf(name)]
    // The format is known by the ending.
    if (/\.(csv|tsv|json)$/.test(stem)) return stem.replace(/(\.\w+)$/, `.${number}$1`) + packing
    return `${stem}.${number}${packing}`
  }
  let number = 1
  while (world.names.includes(free(number))) number += 1
  return free(number)
}

const rows: readonly ActRow[] = [
  {
    name: 'write',
    who: 'world',
    draw: random => ({ ...count(random), isOpen: random.chance(0.1) }),
    play: (play, act) => {
      const name = play.world.freeName()
      if (name !== undefined) play.world.put(name, linesOf(play, act), { isOpen: act['isOpen'] === true })
    },
  },
  {
    name: 'append',
    who: 'world',
    often: 4,
    draw: random => ({ ...place(random), ...count(random), isOpen: random.chance(0.1) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name !== undefined) play.world.append(name, linesOf(play, act), act['isOpen'] === true)
    },
  },
  {
    name: 'rotate',
    who: 'world',
    often: 3,
    draw: random => ({ ...place(random), ...count(random), how: random.pick(['rename', 'rename', 'copytruncate']) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name === undefined) return
      const isCopied = act['how'] !== 'rename'
      if (!play.world.rotate(name, isCopied, play.packing)) {
        const to = rotated(play, name)
        if (isCopied) play.world.copy(name, to)
        else play.world.rename(name, to)
      }
      play.world.put(name, linesOf(play, act))
    },
  },
  {
    name: 'compress',
    who: 'world',
    often: 2,
    draw: random => ({ ...place(random), keeps: random.chance(0.2), pack: random.below(2) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name === undefined || packingOf(name) !== '') return
      const { packs } = play.world.way
      const to = `${name}.${packs[Number(act['pack']) % packs.length] ?? ''}`
      if (play.world.names.includes(to)) return
      play.world.put(to, play.world.held(name).lines, play.world.held(name))
      if (act['keeps'] !== true) play.world.remove(name)
    },
  },
  {
    name: 'unpack',
    who: 'world',
    draw: random => ({ ...place(random), keeps: random.chance(0.2) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name === undefined) return
      const to = unpackedName(name)
      if (to === name || play.world.names.includes(to)) return
      play.world.put(to, play.world.held(name).lines, play.world.held(name))
      if (act['keeps'] !== true) play.world.remove(name)
    },
  },
  {
    name: 'rename',
    who: 'world',
    draw: place,
    play: (play, act) => {
      const [name, to] = [pick(play, act), play.world.freeName()]
      if (name !== undefined && to !== undefined && isAlike(name, to)) play.world.rename(name, to)
    },
  },
  {
    name: 'copy',
    who: 'world',
    draw: place,
    play: (play, act) => {
      const [name, to] = [pick(play, act), play.world.freeName()]
      if (name !== undefined && to !== undefined && packingOf(name) === packingOf(to)) play.world.copy(name, to)
    },
  },
  {
    name: 'replace',
    who: 'world',
    draw: random => ({ ...place(random), ...count(random), isInPlace: random.chance(0.5) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name !== undefined) play.world.put(name, linesOf(play, act), { isInPlace: act['isInPlace'] === true })
    },
  },
  {
    name: 'edit',
    who: 'world',
    draw: random => ({ ...place(random), line: random.below(20), isInPlace: random.chance(0.5) }),
    play: (play, act) => {
      const name = pick(play, act)
      if (name === undefined) return
      const { lines } = play.world.held(name)
      const at = Number(act['line']) % Math.max(1, lines.length)
      const edited = lines.map((line, place) => (place === at ? { ...line, v: line.v + 1 } : line))
      play.world.put(name, edited, { isInPlace: act['isInPlace'] === true })
    },
  },
  {
    name: 'delete',
    who: 'world',
    draw: place,
    play: (play, act) => {
      const name = pick(play, act)
      if (name !== undefined) play.world.remove(name)
    },
  },
  {
    name: 'touch',
    who: 'world',
    draw: place,
    play: (play, act) => {
      const name = pick(play, act)
      if (name !== undefined) play.world.touch(name)
    },
  },
  {
    name: 'prefill',
    who: 'world',
    draw: random => ({ count: 5 + random.below(20) }),
    play: async (play, { count }) => await play.prefill(Number(count)),
  },
  { name: 'loseState', who: 'world', draw: nothing, play: play => play.loseState() },
  {
    name: 'move',
    who: 'user',
    draw: random => ({ isCopied: random.chance(0.4) }),
    play: (play, { isCopied }) => play.move(isCopied === true),
  },
  { name: 'narrowMapping', who: 'world', draw: nothing, play: async ({ world }) => await world.narrow() },
  {
    name: 'rollover',
    who: 'world',
    often: 2,
    draw: nothing,
    play: async ({ world }) => await world.behind?.rollOver(),
  },
  { name: 'switchAlias', who: 'world', draw: nothing, play: async ({ world }) => await world.behind?.switch() },
  { name: 'deleteIndex', who: 'world', draw: nothing, play: async play => await play.deleteIndex(false) },
  { name: 'makeIndexAnew', who: 'world', draw: nothing, play: async play => await play.deleteIndex(true) },
  {
    name: 'trouble',
    who: 'told',
    draw: random => ({
      kind: random.pick(troubles),
      after: random.below(5),
      times: 1 + random.below(3),
      turns: random.below(30),
    }),
    play: ({ world }, { kind, after, times, turns }) => {
      world.trouble = { kind: String(kind), after: Number(after), times: Number(times), turns: Number(turns) }
    },
  },
  {
    name: 'load',
    who: 'told',
    draw: random => ({ which: random.chance(0.75) ? 'all' : 'one', ...place(random), spelling: random.below(4) }),
    play: async (play, act) => await play.load(act),
  },
  {
    name: 'loadAgain',
    who: 'user',
    draw: random => ({ which: random.pick(['all', 'one']), ...place(random) }),
    play: async (play, act) => await play.load(act, { isAgain: true }),
  },
  {
    name: 'loadOtherwise',
    who: 'user',
    draw: random => ({ which: 'all', tag: random.pick(['x', 'y', 'z']) }),
    play: async (play, act) => await play.load(act, { tag: String(act['tag']) }),
  },
  {
    name: 'loadTwice',
    who: 'user',
    draw: random => ({ which: 'all', spelling: random.below(4) }),
    play: async (play, act) => await play.load(act, {}, true),
  },
  {
    name: 'clockJumps',
    who: 'world',
    draw: random => ({ hours: random.pick([-3, 1, 3, 200]) }),
    play: ({ world }, { hours }) => world.stage.jump(Number(hours)),
  },
  { name: 'verify', who: 'user', often: 2, draw: place, play: async (play, act) => await onRun(play, act, 'verify') },
  { name: 'undo', who: 'user', draw: place, play: async (play, act) => await onRun(play, act, 'undo') },
  { name: 'forget', who: 'user', draw: place, play: async (play, act) => await onRun(play, act, 'forget') },
  {
    name: 'replay',
    who: 'user',
    often: 2,
    draw: random => ({ repairs: random.chance(0.7) }),
    play: async (play, { repairs }) => await play.replay(repairs === true),
  },
]

export const acts: Readonly<Record<string, ActRow>> = Object.fromEntries(rows.map(row => [row.name, row]))

/** Does something with one of the runs that ended with a receipt. */
async function onRun(play: Play, { at }: Act, what: 'verify' | 'undo' | 'forget'): Promise<void> {
  const run = play.runs.at(-1 - (Number(at) % Math.max(1, play.runs.length)))
  if (run === undefined) return
  const args = { verify: ['verify', run], undo: ['undo', run, '--yes'], forget: ['runs', 'rm', run] }[what]
  play.world.takeTrouble()
  const ended: Ended = await runCommand(play.world, args)
  play.check(play.oracle[what](run, ended, await play.after()))
}
