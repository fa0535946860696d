/** `npm run search:world`: plays stories in several processes, and prints those that fail, in their shortest form. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { workerArgs } from '../support/worker-args.js'
import { Coverage } from './coverage.js'
import { playStory } from './play.js'
import { type Found, keep, search, tellOf } from './search.js'
import { fitRealServers, notOnRealServers } from './real/not-drawn.js'
import { startRealServers } from './real/servers.js'
import { openStage } from './stage.js'

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    seed: text,
    stories: text,
    only: text,
    // Plays only stories with this act, trouble or target.
    having: text,
    failures: text,
    processes: text,
    player: text,
    // Plays one story of a file.
    story: text,
    // Stories that fail are not shortened.
    'as-it-is': { type: 'boolean' },
    // Plays on real servers, with Elasticsearch of this version.
    real: { type: 'boolean' },
    major: text,
  },
})
const number = (name: 'seed' | 'stories' | 'failures' | 'processes', otherwise: number) =>
  Number(values[name] ?? otherwise)
const seed = number('seed', 1)
const stories = number('stories', 1000)
const most = number('failures', 1)
const isReal = values.real === true
// One Elasticsearch is enough for a machine.
const processes = isReal ? 1 : Math.min(stories, number('processes', availableParallelism() + 2))
const major = values.major === '8' ? 8 : 9
const open = async () => await openStage(isReal ? async () => await startRealServers(major) : undefined)

type Message =
  | { readonly line: string }
  | { readonly found: Found }
  | { readonly commands: number }
  | { readonly counts: Coverage['counts'] }

if (values.story !== undefined) await tellStory(values.story)
else if (values.player === undefined) await lead()
else await play(Number(values.player))

async function tellStory(path: string): Promise<void> {
  const { story } = JSON.parse(readFileSync(path, 'utf8')) as Pick<Found, 'story'>
  await using stage = await open()
  stage.set(story)
  const played = await playStory(story, stage)
  console.log(tellOf({ seed: 0, story, played }))
  if (played.problems.length > 0) process.exitCode = 1
}

/** Plays each story whose turn it is, and tells the parent. */
async function play(turn: number): Promise<void> {
  const tell = (message: Message) => process.send?.(message)
  const { coverage } = await search({
    seed: seed + turn,
    stories: Math.ceil((stories - turn) / processes),
    step: processes,
    most,
    only: values.only,
    having: values.having,
    isShortened: values['as-it-is'] !== true,
    open,
    ...(isReal ? { fit: fitRealServers } : {}),
    say: line => tell({ line }),
    sayFound: found => tell({ found }),
    sayPlayed: ({ commands }) => tell({ commands }),
  })
  tell({ counts: coverage.counts })
  process.disconnect()
}

async function lead(): Promise<void> {
  const began = performance.now()
  const coverage = new Coverage()
  const total = { found: 0, stories: 0, commands: 0, ended: 0 }
  mkdirSync('.cache/world', { recursive: true })
  const players = Array.from({ length: processes }, (_, turn) =>
    fork(process.argv[1] ?? '', [...process.argv.slice(2), '--processes', `${processes}`, '--player', `${turn}`], {
      execArgv: ['--max-semi-space-size=64', ...workerArgs],
    }),
  )
  const hear = (message: Message) => {
    if ('line' in message) console.log(message.line)
    else if ('found' in message) {
      total.found += 1
      keep(`.cache/world/seed-${message.found.seed}.json`, message.found)
      console.log(`${tellOf(message.found)}\n`)
      // Ends the other searches: they have nothing to tell any more.
      if (total.found >= most) for (const player of players) player.kill()
    } else if ('commands' in message) {
      total.stories += 1
      total.commands += message.commands
    } else {
      total.ended += 1
      coverage.merge(message.counts)
    }
  }
  for (const player of players) player.on('message', message => hear(message as Message))
  await Promise.all(players.map(async player => await once(player, 'close')))
  const minutes = (performance.now() - began) / 60_000
  console.log(`${total.stories} stories, ${total.commands} commands, ${Math.round(total.stories / minutes)} a minute`)
  console.log(coverage.tell())
  for (const { name, why } of isReal ? notOnRealServers : [])
    console.log(`not drawn on real servers: ${name}, because ${why}`)
  if (total.found > 0 || total.ended < processes) process.exitCode = 1
}
