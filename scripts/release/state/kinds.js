// The kinds of work whose state is kept. Each is killed while a request has no answer, although the cluster has stored its documents.
import { appendFileSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const token = 'a-token-of-the-lab-and-nothing-else'
const small = ['--batch-docs', '5', '--concurrency', '1']

export const kinds = { load, follow, spool, serve, replay }

/** One load is finished, and one was killed. */
async function load({ file, start, killHeld, hold }) {
  writeFileSync(file('customers.ndjson'), lines(1, 30))
  writeFileSync(file('orders.ndjson'), `${lines(101, 60)}not json\n${lines(161, 60)}`)
  const args = source => ['ingest', source, '--dead-letters', 'dead.ndjson', ...small]
  await start(args('customers.ndjson')).ended
  hold(16)
  await killHeld(start(args('orders.ndjson')))
}

/** Follows a log that was rotated once. Its last line has no end yet. */
async function follow({ file, start, stored, killHeld, hold }) {
  const log = file('app.ndjson')
  writeFileSync(log, lines(1, 40))
  const args = ['ingest', 'app.ndjson', '--follow', '--poll', '20ms', '--dead-letters', 'dead.ndjson', ...small]
  const running = start(args)
  await stored(40)
  renameSync(log, `${log}.1`)
  appendFileSync(`${log}.1`, lines(41, 10))
  writeFileSync(log, lines(51, 10))
  await stored(60)
  hold(2)
  appendFileSync(log, `${lines(61, 20)}{"n":`)
  await killHeld(running)
}

/** The stdin of the first process had ended. That of the second one had not. */
async function spool({ file, start, until, killHeld, hold }) {
  const args = ['ingest', '-', '--spool', '--dead-letters', 'dead.ndjson', ...small]
  for (const [from, isEnded] of [
    [1, true],
    [61, false],
  ]) {
    hold(4)
    const running = start(args)
    running.child.stdin.write(lines(from, 60))
    if (isEnded) running.child.stdin.end()
    await until(() => isSpooled(file('state/spool'), lines(from, 60), isEnded))
    await killHeld(running)
  }
}

function isSpooled(folder, content, isEnded) {
  if (!existsSync(folder)) return false
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\d+-[0-9a-f]{8}$/.test(name))
  return files.some(
    name => readFileSync(join(folder, name), 'utf8') === content && existsSync(join(folder, `${name}.end`)) === isEnded,
  )
}

/** One request is loaded, one was sent without an answer, and one waits. */
async function serve({ start, stored, until, killHeld, hold, control }) {
  const args = ['serve', '--index', 'kept-state', '--listen', '127.0.0.1:0', '--batch-ms', '10', ...small.slice(0, 2)]
  const running = start(args, { SLUICE_SERVE_TOKEN: token })
  await until(() => /listening on http:\S+/.test(running.stderr()))
  const [, url] = /listening on (http:[^\s"]+)/.exec(running.stderr())
  const post = async (body, headers) => {
    const type = body.startsWith('[') ? 'application/json' : 'application/x-ndjson'
    const all = { authorization: `Bearer ${token}`, 'content-type': type, ...headers }
    const { status } = await fetch(url, { method: 'POST', body, headers: all })
    if (status !== 202) throw new Error(`the receiver answered ${status}`)
  }
  await post(lines(1, 10), { 'idempotency-key': 'first' })
  await stored(10)
  hold(1)
  await post(lines(11, 10), { 'idempotency-key': 'second' })
  await until(() => control.struck('hold') > 0)
  await post('[{"n":21},{"n":22},{"n":23}]', { 'idempotency-key': 'third' })
  await killHeld(running)
}

/** Dead letters that are corrected, but the last one. */
async function replay({ file, start, killHeld, hold }) {
  const broken = Array.from({ length: 30 }, (_, n) => `n is ${n + 11}\n`)
  writeFileSync(file('returns.ndjson'), lines(1, 10) + broken.join(''))
  await start(['ingest', 'returns.ndjson', '--dead-letters', 'dead.ndjson', ...small]).ended
  const letters = readFileSync(file('dead.ndjson'), 'utf8').trimEnd().split('\n')
  const corrected = letters.slice(0, -1).map(text => {
    const { line, ...letter } = JSON.parse(text)
    return JSON.stringify({ ...letter, document: { n: Number(line.slice('n is '.length)) } })
  })
  writeFileSync(file('corrected.ndjson'), [...corrected, ...letters.slice(-1), ''].join('\n'))
  hold(3)
  await killHeld(start(['replay', 'corrected.ndjson', '--dead-letters', 'again.ndjson', ...small]))
}

function lines(from, count) {
  return Array.from({ length: count }, (_, n) => `{"n":${from + n}}\n`).join('')
}
