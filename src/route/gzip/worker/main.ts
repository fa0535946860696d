/** Runs in a worker thread: compresses bodies. `scripts/kernel/build.js` makes one text of it. */
import { parentPort } from 'node:worker_threads'
import { Collector } from '../collect.js'
import { openKernel } from '../kernel/kernel.js'
import type { FromWorker, ToWorker } from './messages.js'

const kernel = openKernel()
const collector = new Collector()

parentPort?.on('message', ({ memory, bytes }: ToWorker) => {
  if (kernel === undefined) return answer(undefined)
  collector.begin(bytes)
  for (const part of kernel.gzip(new Uint8Array(memory, 0, bytes))) collector.add(part)
  answer(collector.take())
})

function answer(file: FromWorker): void {
  parentPort?.postMessage(file, file === undefined ? [] : [file.buffer])
}
