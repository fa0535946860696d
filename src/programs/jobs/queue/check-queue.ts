/** Checks that a queue keeps its entries, and that its clock is right. */
import type { QueueEngine } from './open-engine.js'

export interface QueueFacts {
  /** For example Redis 7.0.15. */
  readonly server: string
  /** Why it may lose jobs. The first one loses them silently. */
  readonly unsafe: readonly string[]
  /** Whether it removes keys if its memory is full. */
  readonly evicts: boolean
  /** Milliseconds by which its clock is ahead of this machine's. */
  readonly clockAheadMs: number
}

/** `url`: with its credentials. Throws SluiceError QUEUE_UNREACHABLE, QUEUE_REFUSED. */
export async function checkQueue(engine: QueueEngine, url: string): Promise<QueueFacts> {
  try {
    return await (engine.kind === 'redis' ? askRedis(url) : askPostgres(url))
  } catch (error) {
    throw engine.failure(error)
  }
}

async function askRedis(url: string): Promise<QueueFacts> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, { maxRetriesPerRequest: 1 })
  redis.on('error', () => undefined)
  try {
    const info = await redis.info()
    const value = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
    const [seconds, micros] = await redis.time()
    const policy = value('maxmemory_policy') ?? 'noeviction'
    const evicts = policy !== 'noeviction'
    return {
      server: `Redis ${value('redis_version') ?? ''}`,
      evicts,
      unsafe: [
        ...(evicts ? [`maxmemory-policy is ${policy}`] : []),
        ...(value('aof_enabled') === '0' ? ['appendonly is no'] : []),
      ],
      clockAheadMs: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - Date.now(),
    }
  } finally {
    redis.disconnect()
  }
}

async function askPostgres(url: string): Promise<QueueFacts> {
  const { default: pg } = await import('pg')
  const database = new pg.Client({ connectionString: url })
  await database.connect()
  try {
    const asked = `select current_setting('server_version') version, current_setting('fsync') fsync,
      current_setting('synchronous_commit') commits, extract(epoch from clock_timestamp()) * 1000 now`
    const { rows } = await database.query<{ version: string; fsync: string; commits: string; now: string }>(asked)
    const [{ version, fsync, commits, now }] = rows as [(typeof rows)[number]]
    return {
      server: `PostgreSQL ${version}`,
      evicts: false,
      unsafe: [
        ...(fsync === 'off' ? ['fsync is off'] : []),
        ...(commits === 'off' ? ['synchronous_commit is off'] : []),
      ],
      clockAheadMs: Math.round(Number(now) - Date.now()),
    }
  } finally {
    await database.end()
  }
}
