/** Files of Sluice that it cannot write for the time of a command: the state, or the dead letters. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Loss } from './losses.js'
import type { World } from './world.js'

/** Why no disk can be filled here. Undefined: it can. */
const whyNoDisk = process.getuid?.() === 0 ? undefined : 'only root may mount a disk'

const ASIDE = 'aside'

export const diskLosses: Readonly<Record<string, Loss>> = {
  // What a read-only folder is to others, to root as well: a file stands where the folder was.
  'state folder read-only': {
    trouble: 'disk',
    lose: async world => block(world, join(world.state, 'runs'), path => writeFileSync(path, '')),
    restore: async world => unblock(world, join(world.state, 'runs'), isFile),
  },
  'dead letters unwritable': {
    trouble: 'disk',
    lose: async world => block(world, world.at('dead.ndjson'), path => mkdirSync(path)),
    restore: async world => unblock(world, world.at('dead.ndjson'), path => !isFile(path)),
  },
  'disk full': {
    trouble: 'disk',
    prepare: world => mount(world),
    lose: async world => fill(world.state),
    restore: async world => unmount(world),
  },
}

function block(world: World, path: string, put: (path: string) => void): void {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  if (existsSync(path)) renameSync(path, world.at(ASIDE))
  put(path)
}

/** Without a file aside, either nothing stood there before, or the command ended before anything was lost. */
function unblock(world: World, path: string, isBlocked: (path: string) => boolean): void {
  const aside = world.at(ASIDE)
  if (!existsSync(path) || !isBlocked(path)) return
  rmSync(path, { recursive: true })
  if (existsSync(aside)) renameSync(aside, path)
}

/** Puts the state on a disk of its own. */
function mount(world: World): void {
  const { state } = world
  if (whyNoDisk !== undefined) return world.tell(`  not played: ${whyNoDisk}`)
  mkdirSync(state, { recursive: true, mode: 0o700 })
  renameSync(state, world.at(ASIDE))
  mkdirSync(state)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', state])
  cpSync(world.at(ASIDE), state, { recursive: true, filter: isNoSocket })
}

function fill(state: string): void {
  if (whyNoDisk !== undefined) return
  const { bavail, bsize } = statfsSync(state)
  writeFileSync(join(state, 'filler'), Buffer.alloc(bavail * bsize))
}

function unmount(world: World): void {
  const { state } = world
  if (whyNoDisk !== undefined) return
  rmSync(join(state, 'filler'), { force: true })
  rmSync(world.at(ASIDE), { recursive: true })
  cpSync(state, world.at(ASIDE), { recursive: true, filter: isNoSocket })
  execFileSync('umount', ['-l', state])
  rmSync(state, { recursive: true })
  renameSync(world.at(ASIDE), state)
}

const isFile = (path: string) => statSync(path).isFile()
const isNoSocket = (path: string) => !path.endsWith('.sock')
