import { Readable } from 'node:stream'

/**
 * The body of an answer, read once: as a stream, or whole. The request's time limit and signal hold until its end. After the end,
 * or if it is destroyed unread, the connection is free or closed. A body that breaks gives a RouteError.
 */
export class AnswerBody extends Readable {
  constructor(
    private readonly more: () => void,
    private readonly abandoned: () => void,
  ) {
    super({ highWaterMark: 256 * 1024 })
    // An unread body may break without ending the process. Readers still get the error.
    this.on('error', () => {})
  }

  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of this) chunks.push(chunk)
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString('utf8')
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return Uint8Array.from(await this.bytes()).buffer
  }

  override [Symbol.asyncIterator](): NodeJS.AsyncIterator<Buffer> {
    return super[Symbol.asyncIterator]()
  }

  override _read(): void {
    this.more()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.abandoned()
    callback(error)
  }
}
