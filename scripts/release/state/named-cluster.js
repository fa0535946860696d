// Gives the cluster of a lab a URL that stays the same: state folders are named by the URL of the cluster, and each lab has another port.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** Nothing listens there. */
const url = 'https://localhost:9243'
const END_OF_HEAD = '\r\n\r\n'

/** Starts a proxy that passes all on to the proxy of the lab, with the port of the cluster in the place of the one in `url`. */
export async function nameCluster(lab) {
  const named = new URL(url).host
  const real = new URL(lab.line.cluster.url).host
  const sockets = new Set()
  const server = createServer(socket => {
    const onward = connect(Number(new URL(lab.line.proxy.http).port), '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ]) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.once('close', () => sockets.delete(one))
    }
    let head = ''
    const read = chunk => {
      head += chunk.toString('latin1')
      if (!head.includes(END_OF_HEAD)) return
      socket.off('data', read)
      onward.write(head.replaceAll(named, real), 'latin1')
      socket.pipe(onward)
    }
    socket.on('data', read)
    onward.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = new URL(lab.line.proxy.http)
  proxy.port = String(server.address().port)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  const env = { ...lab.env, ELASTICSEARCH_URL: url, STATIC_PROXY_URL: proxy.href }
  return { url, proxy: proxy.href, env, close }
}
