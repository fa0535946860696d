/** Runs in a worker thread: loads the user's module, and transforms lines. `scripts/kernel/build.js` makes one text of it. */
import { workerData } from 'node:worker_threads'
import type { TransformFunction } from '../../../options/ingest-options.js'
import { describeError } from '../transform-document.js'
import { type LineJob, transformLines } from '../transform-lines.js'
import type { FromWorker, ToWorker, WorkerSetup } from './messages.js'

const { port, module, maxBytes, progress } = workerData as WorkerSetup
// The module must not answer in the place of this code.
for (const name of Object.keys(workerData as WorkerSetup)) delete (workerData as Record<string, unknown>)[name]
const counters = new Int32Array(progress)
let takePiece: (() => void) | undefined
/** Jobs follow each other. */
let last = start()

port.on('message', (message: ToWorker) => {
  if (message.kind === 'taken') takePiece?.()
  else last = last.then(async transform => await run(message.job, transform))
})

/** Resolves only if the module has a function: the run ends this thread otherwise. */
async function start(): Promise<TransformFunction> {
  let problem: string
  try {
    const { default: found } = (await import(module)) as { readonly default?: unknown }
    if (typeof found === 'function') {
      tell({ kind: 'ready' })
      return found as TransformFunction
    }
    problem = 'its default export is not a function'
  } catch (error) {
    problem = describeError(error)
  }
  tell({ kind: 'unfit', problem })
  return await new Promise(() => {})
}

async function run(job: LineJob, transform: TransformFunction): Promise<TransformFunction> {
  const begin = (line: number) => {
    Atomics.store(counters, 1, line - job.line)
    Atomics.add(counters, 0, 1)
  }
  for await (const bytes of transformLines(job, transform, { maxBytes, module }, begin)) {
    const taken = new Promise<void>(resolve => (takePiece = resolve))
    tell({ kind: 'piece', bytes }, bytes.buffer)
    await taken
  }
  tell({ kind: 'done' })
  return transform
}

function tell(message: FromWorker, bytes?: ArrayBufferLike): void {
  port.postMessage(message, bytes === undefined ? [] : [bytes as ArrayBuffer])
}
