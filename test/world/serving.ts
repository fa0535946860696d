/** Receives documents by `sluice serve`: callers post each input as one request, and then the receiver ends. */
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { ServeStatus } from '../../src/index.js'
import { option, run } from './command.js'
import type { Ended } from './facts.js'
import { inTrouble } from './trouble.js'
import { type Settings, SLUICE_SERVE_TOKEN as token, type World } from './world.js'

interface Posting {
  readonly names: readonly string[]
  /** How a body is written: as lines or as an array, plain or packed. */
  readonly spelling: number
  readonly settings: Settings
}

export async function runServe(world: World, { names, spelling, settings }: Posting): Promise<Ended> {
  world.listen()
  // Callers send an `Idempotency-Key`, which is the same for the same body.
  const hasKeys = world.way.posts?.hasKeys === true
  const isToBeKilled = world.trouble.kind.startsWith('killed')
  const args = [...argsOfServe(world, settings), ...(hasKeys ? ['--accept-anyway'] : [])]
  const posting: Promise<void>[] = []
  const ended = await inTrouble(world, async signals => {
    const receiver = { isEnding: false }
    // A second signal would end this process.
    const first = new EventEmitter()
    for (const name of ['SIGINT', 'SIGTERM']) signals.on(name, () => receiver.isEnding || first.emit(name))
    const post = async (url: string) => {
      const requests = names.map(async name => await postTo(world, url, { name, spelling, hasKeys }))
      await Promise.all(requests)
      if (isToBeKilled) while (!receiver.isEnding && (await isLoading(url))) await setImmediate()
      signals.emit('SIGTERM')
    }
    const receipt = await run(world, args, Buffer.alloc(0), first, said => {
      receiver.isEnding = said.includes('"event":"stopping"')
      const url = /listening on (http[^\s"]+)/.exec(said)?.[1]
      if (url !== undefined && posting.length === 0) posting.push(post(url))
    })
    return receipt
  })
  // Callers of a process that was killed learn it now.
  await Promise.all(posting)
  const answers = new Map(world.answers)
  return { ...ended, answers }
}

/** The options of a receiver. It has no edits, and no name of a run. */
function argsOfServe(world: Pick<World, 'at' | 'state' | 'target'>, { op, ids, batchDocs, skips }: Settings): string[] {
  return [
    'serve',
    ...option('--index', world.target),
    ...option('--listen', '127.0.0.1:0'),
    ...option('--op', op),
    ...option('--ids', ids),
    ...option('--id-field', ids === 'run' ? undefined : 'n'),
    ...option('--batch-docs', batchDocs),
    ...option('--concurrency', 2),
    ...option('--state-dir', world.state),
    ...option('--dead-letters', world.at('dead.ndjson')),
    '--json',
    ...(skips === true ? ['--on-conflict', 'skip'] : []),
  ]
}

async function postTo(
  world: World,
  url: string,
  { name, spelling, hasKeys }: Pick<Posting, 'spelling'> & { readonly name: string; readonly hasKeys: boolean },
): Promise<void> {
  const lines = world.stream([name])
  const isArray = spelling % 2 === 1
  const body = isArray ? Buffer.from(`[${lines.toString().trimEnd().split('\n').join(',')}]`) : lines
  const isPacked = spelling >= 2
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': isArray ? 'application/json' : 'application/x-ndjson',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    ...(hasKeys ? { 'idempotency-key': createHash('sha256').update(lines).digest('hex') } : {}),
  }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body: isPacked ? gzipSync(body) : body })
    await answer.text()
    world.answer(`in/${name}`, answer.status)
  } catch {
    // Nobody listens any more: the caller does not know what became of the request.
  }
}

/** Whether documents wait that the cluster has not refused. */
async function isLoading(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}health`, { headers: { authorization: `Bearer ${token}` } })
    const { state, waiting } = (await answer.json()) as ServeStatus
    return state === 'ok' && waiting.documents > 0
  } catch {
    return false
  }
}
