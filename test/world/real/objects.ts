/** Files behind nginx, and the same ones in a bucket of versitygw. */
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { newOwner } from '../../real/servers/owner.js'
import { findParts } from '../../real/servers/parts.js'
import { startSources } from '../../real/servers/sources.js'
import type { StoryObjects } from '../bucket.js'

const Bucket = 'stories'

export async function startRealObjects(): Promise<StoryObjects> {
  const owner = await newOwner()
  const { nginx, s3, folder, caFile } = await startSources(findParts(), owner)
  const { S3Client, CreateBucketCommand, PutObjectCommand, CopyObjectCommand, DeleteObjectCommand } =
    await import('@aws-sdk/client-s3')
  const { AWS_ENDPOINT_URL_S3: endpoint, AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = s3.env
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }
  const bucket = new S3Client({ region: 'us-east-1', forcePathStyle: true, endpoint: String(endpoint), credentials })
  await bucket.send(new CreateBucketCommand({ Bucket }))

  // nginx tells files apart by their size and the second of their change.
  let second = 1_700_000_000
  const write = async (Key: string, Body: Buffer): Promise<void> => {
    const path = join(folder, Key)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, Body)
    await utimes(path, (second += 1), second)
    await bucket.send(new PutObjectCommand({ Bucket, Key, Body }))
  }
  const remove = async (Key: string): Promise<void> => {
    await rm(join(folder, Key))
    await bucket.send(new DeleteObjectCommand({ Bucket, Key }))
  }
  const move = async (from: string, to: string): Promise<void> => {
    await bucket.send(new CopyObjectCommand({ Bucket, Key: to, CopySource: `${Bucket}/${from}` }))
    await bucket.send(new DeleteObjectCommand({ Bucket, Key: from }))
    await rename(join(folder, from), join(folder, to))
  }
  const changes: (() => Promise<void>)[] = []
  let settled = Promise.resolve()
  return {
    bucket: Bucket,
    env: { ...s3.env, AWS_REGION: 'us-east-1', SLUICE_SOURCE_CA: caFile },
    put: (key, bytes) => void changes.push(async () => await write(key, bytes)),
    rename: (key, to) => void changes.push(async () => await move(key, to)),
    remove: key => void changes.push(async () => await remove(key)),
    url: key => `https://127.0.0.1:${nginx.port}/files/${key}`,
    settle: async () => {
      // Two commands at once wait for the same changes.
      for (const change of changes.splice(0)) settled = settled.then(change)
      await settled
    },
    isNew: () => false,
    plant: () => () => undefined,
    [Symbol.asyncDispose]: async () => {
      bucket.destroy()
      await owner[Symbol.asyncDispose]()
    },
  }
}
