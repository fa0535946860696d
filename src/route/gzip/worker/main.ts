/** Runs in a worker thread: compresses bodies. `scripts/kernel/build.js` makes one text of it. */
import { parentPort } from 'node:worker_threads'
import { copyInto } from '../../../base/memory.js'
import { openGzipKernel } from '../kernel/kernel.js'
import type { FromWorker, ToWorker } from './messages.js'

const kernel = openGzipKernel()

parentPort?.on('message', ({ body, from, bytes, file }: ToWorker) => {
  if (kernel === undefined) return answer(undefined)
  const into = Buffer.from(file)
  let end = 0
  for (const part of kernel.gzip(new Uint8Array(body, from, bytes))) {
    end += copyInto(into, end, part)
  }
  answer(end)
})

function answer(end: FromWorker): void {
  parentPort?.postMessage(end, [])
}
