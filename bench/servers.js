import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Starts a server that prints its port first. It ends with this process, however that ends. */
export async function start(command, words) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${command} ended with ${code}`))),
  ])
  return {
    port: Number(line),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * The sink and the proxy in front of it. `verify`: the sink also sums what it receives. `rate`: bytes a second that the proxy
 * takes at the most; without it there is no limit. `tls`: the sink stands behind TLS.
 */
export async function startServers(programs, { verify = false, rate, tls = false } = {}) {
  const sink = await start(programs.sink, verify ? ['-c'] : [])
  const { certificate, key, ca } = programs
  const front = tls ? await start(programs.tlsFront, [String(sink.port), certificate, key]) : undefined
  const proxy = await start(programs.proxy, [
    String((front ?? sink).port),
    ...(rate === undefined ? [] : [String(rate)]),
  ])
  const ask = async path => {
    const response = await fetch(`http://127.0.0.1:${sink.port}/_sink/${path}`)
    return response.json()
  }
  return {
    port: sink.port,
    url: front === undefined ? `http://127.0.0.1:${sink.port}` : `https://127.0.0.1:${front.port}`,
    ...(front !== undefined && { ca }),
    proxyPort: proxy.port,
    proxyUrl: `http://127.0.0.1:${proxy.port}`,
    reset: () => ask('reset'),
    stats: () => ask('stats'),
    addLatency: ms => ask(`latency/${ms}`),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await front?.[Symbol.asyncDispose]()
      await sink[Symbol.asyncDispose]()
    },
  }
}
