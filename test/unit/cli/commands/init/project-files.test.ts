import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compareFiles, configOf, writeFiles } from '../../../../../src/cli/commands/init/project-files.js'
import type { Effective } from '../../../../../src/cli/settings/resolve.js'
import { folder } from '../../../../support/command/sluice.js'

test('the configuration gets no credentials of a URL, but keeps those that the user has put there', () => {
  const url = 'https://es.example:9243'
  const effective = (ipCheckUrl: string) =>
    ({ values: { url, ipCheckUrl }, origins: { url: '--url', ipCheckUrl: 'IP_CHECK_URL' } }) as unknown as Effective
  for (const secret of ['https://me:secret@ip.example/', 'https://ip.example/?token=secret']) {
    expect(configOf(effective(secret), {})).toEqual({ $schema: expect.any(String), url })
    expect(configOf(effective(secret), { ipCheckUrl: secret })).toMatchObject({ url, ipCheckUrl: secret })
  }
  expect(configOf(effective('https://ip.example/'), {})).toMatchObject({ url, ipCheckUrl: 'https://ip.example/' })
})

test('if a file cannot be written, those that were there before stay', async () => {
  await using work = await folder()
  const secret = { path: join(work.path, 'api-key'), text: 'a2V5\n', isSecret: true }
  const fresh = { path: join(work.path, 'fresh'), text: 'new\n', isSecret: false }
  const impossible = { path: join(work.path, 'missing', 'config.json'), text: '{}', isSecret: false }
  await writeFile(secret.path, secret.text)
  // Others can read it, so it is written anew with the same contents.
  await chmod(secret.path, 0o644)
  const { changed, existing, replaced } = await compareFiles([secret, fresh, impossible])
  expect({ changed, existing, replaced }).toEqual({
    changed: [secret, fresh, impossible],
    existing: [secret],
    replaced: [],
  })
  await expect(writeFiles(changed, existing)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  expect(await readFile(secret.path, 'utf8')).toBe(secret.text)
  await expect(readFile(fresh.path)).rejects.toMatchObject({ code: 'ENOENT' })
})
