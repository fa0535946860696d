import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { skipContinue } from '../../../../src/route/proxy/skip-continue.js'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** Sends requests one after the other. The server answers each with such pieces, and waits until each has arrived. */
async function answers(...all: readonly (readonly string[])[]): Promise<readonly string[]> {
  let arrived: () => void = () => undefined
  const server = createServer(socket => {
    const [...left] = all
    socket.on('error', () => undefined)
    socket.on('data', () => void send(socket, left.shift() ?? []))
  })
  const send = async (socket: Socket, pieces: readonly string[]) => {
    for (const piece of pieces) {
      const seen = new Promise<void>(resolve => (arrived = resolve))
      socket.write(piece, 'latin1')
      await seen
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  skipContinue(socket)
  const read: string[] = []
  for (const pieces of all) {
    const expected = pieces.join('').length
    let text = ''
    let bytes = 0
    const before = socket.bytesRead
    const done = new Promise<void>(resolve => {
      const take = () => {
        for (let chunk: Buffer | null; (chunk = socket.read() as Buffer | null) !== null;)
          text += chunk.toString('latin1')
        if (socket.bytesRead - before === bytes) return
        bytes = socket.bytesRead - before
        arrived()
        if (bytes === expected) resolve()
      }
      socket.on('readable', take)
      void once(socket, 'close').then(() => resolve())
    })
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await done
    socket.removeAllListeners('readable')
    read.push(text)
  }
  socket.destroy()
  server.close()
  return read
}

test('answers 100 Continue are skipped before each answer, in whatever pieces they come', async () => {
  expect(
    await answers(
      [ANSWER],
      [CONTINUE, ANSWER],
      [CONTINUE + ANSWER],
      ['HTTP/1', '.1 100 Cont', 'inue\r\nServer: x\r\n', '\r', `\n${ANSWER}`],
      [CONTINUE + CONTINUE, CONTINUE + ANSWER.slice(0, 3), ANSWER.slice(3)],
      ['HTTP/1.0 100 Go on\r\n\r\n', ...ANSWER.split(/(?<=.)/s)],
    ),
  ).toEqual(Array.from({ length: 6 }, () => ANSWER))
})

test('bytes inside of an answer stay, and so do other answers', async () => {
  const long = `HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n`
  const early = 'HTTP/1.1 103 Early Hints\r\n\r\n'
  const endless = `HTTP/1.1 100 ${'x'.repeat(9000)}`
  expect(await answers([long, CONTINUE], [early, ANSWER], ['HTTP/1.1 ', '404 no\r\n\r\n'], [endless])).toEqual([
    long + CONTINUE,
    early + ANSWER,
    'HTTP/1.1 404 no\r\n\r\n',
    endless,
  ])
})
