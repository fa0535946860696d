// @module-tag long
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { files, index, ips, key, modeOf, proxy, start, trust, url, written } from '../../support/lab/init-world.js'
import { sluiceHere } from '../../support/command/in-process.js'
import { onScriptedTerminal, type Reply } from '../../support/command/scripted-terminal.js'
import { folder } from '../../support/command/sluice.js'

describe('on a terminal', () => {
  test('asks again after each wrong answer, and shows what the doctor found', async () => {
    await using lab = await start()
    await using work = await folder()
    const { line } = lab
    const wrong = new URL(line.proxy.http)
    wrong.password = 'wr0ngSecret'
    const socks = new URL(line.proxy.socks5)
    const replies: Reply[] = [
      [proxy, '\n'],
      [proxy, 'nonsense with hiddenWord\n'],
      [proxy, `http://${socks.username}:${socks.password}@${socks.host}\n`],
      [proxy, `${wrong.href}\n`],
      [url, 'htp://x\n'],
      [url, `${line.cluster.url}\n`],
      [ips, '1.2.3\n'],
      [ips, '\n'],
      [proxy, `${line.proxy.http}\n`],
      [key, 'two words\n'],
      [key, 'S3cretKey\n'],
      [key, 'none\n'],
      ['User name', `${line.cluster.username}\n`],
      ['Password', 'pa55word\n'],
      [key, 'none\n'],
      ['User name', `${line.cluster.username}\n`],
      ['Password', `${line.cluster.password}\n`],
      [index, 'Upper\n'],
      [index, '\n'],
    ]
    const { code, stderr, unasked } = await onScriptedTerminal(['init'], trust(lab, work.path), replies, work.path)
    expect({ code, unasked }, stderr).toEqual({ code: 0, unasked: [] })
    for (const said of ['PROXY_URL_INVALID', 'PROXY_AUTH_REJECTED', 'PROXY_PORT_IS_SOCKS', 'CLUSTER_AUTH_REJECTED']) {
      expect(stderr).toContain(said)
    }
    expect(stderr).not.toMatch(/wr0ngSecret|S3cretKey|pa55word|hiddenWord/)
    const config = JSON.parse(await readFile(join(work.path, 'sluice.config.json'), 'utf8')) as object
    expect(config).toMatchObject({ username: line.cluster.username, passwordFile: '.sluice/password' })
    expect(config).not.toHaveProperty('apiKeyFile')
  })

  test('registers a missing address if the user wants that, with the key of the organisation', async () => {
    await using lab = await start('first')
    await using work = await folder()
    const { line } = lab
    const env = { ...lab.env, ...trust(lab, work.path), SLUICE_DEPLOYMENT: '' }
    const replies: Reply[] = [
      ['Id of the Elastic Cloud deployment', `${line.admin.deployment}\n`],
      ['Continue? [y/N]', 'n\n'],
      ['Enter:', '\n'],
      ['Id of the Elastic Cloud deployment', `${line.admin.deployment}\n`],
      ['Continue? [y/N]', 'y\n'],
      [index, '\n'],
    ]
    const { code, stderr, unasked } = await onScriptedTerminal(['init'], env, replies, work.path)
    expect({ code, unasked }, stderr).toEqual({ code: 0, unasked: [] })
    expect(stderr).toContain('EGRESS_PARTLY_ALLOWED')
    expect(stderr).toContain('The policy static addresses')
    expect(lab.control.policies().map(({ name }) => name)).toContain('static addresses')
    expect(await readFile(join(work.path, 'sluice.config.json'), 'utf8')).not.toContain(line.admin.apiKey)
  })

  test('keeps a file that is there, unless the user wants it replaced', async () => {
    await using lab = await start()
    await using work = await folder()
    const path = join(work.path, 'sluice.config.json')
    const before = '{ "index": "kept", "batchDocs": 10 }\n'
    await writeFile(path, before)
    const env = { ...lab.env, ...trust(lab, work.path) }
    const refused = await onScriptedTerminal(['init'], env, [['Replace it?', 'n\n']], work.path)
    expect(refused.code, refused.stderr).toBe(2)
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(await files(work.path)).toEqual(['sluice.config.json'])

    const replaced = await onScriptedTerminal(['init'], env, [['Replace it?', 'y\n']], work.path)
    expect(replaced.code, replaced.stderr).toBe(0)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ index: 'kept', batchDocs: 10 })
  })
})

describe('without a terminal', () => {
  test('takes flags and variables, and the load beside them trusts its own folder', async () => {
    await using lab = await start()
    await using work = await folder()
    const env = { ...lab.env, ...trust(lab, work.path) }
    const { code, stdout, stderr } = await sluiceHere(['init', '--index', 'orders', '--json'], { cwd: work.path, env })
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, next: 'sluice ingest FILE --index orders' })
    await writeFile(join(work.path, 'in.ndjson'), '{"a":1}\n')
    const load = await sluiceHere(['ingest', 'in.ndjson', '--index', 'orders'], { cwd: work.path })
    expect(load.code, load.stderr).toBe(0)

    const { ELASTICSEARCH_URL: at = '', ...others } = env
    const named = await sluiceHere(['init', '--url', at, '--json'], { cwd: work.path, env: others })
    expect(named.code, named.stderr).toBe(0)
    // The variable holds a key, and a file outside the command would say where it goes.
    expect(JSON.parse(named.stdout)).toMatchObject({
      next: 'sluice ingest FILE --index INDEX --config sluice.config.json',
    })
  })

  test('stops with the first obstacle, writes nothing then, and registers addresses only with --yes', async () => {
    await using lab = await start('first')
    await using work = await folder()
    const env = { ...lab.env, ...trust(lab, work.path) }
    const refused = await sluiceHere(['init'], { cwd: work.path, env })
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain('error: the IP filter of')
    expect(await files(work.path)).toEqual([])
    const { code, stderr } = await sluiceHere(['init', '--yes'], { cwd: work.path, env })
    expect(code, stderr).toBe(0)
    expect(await files(work.path)).toEqual(written)
  })

  test('replaces other contents only with --force, and makes secrets private again', async () => {
    await using lab = await start()
    await using work = await folder()
    await mkdir(join(work.path, '.sluice'))
    const secret = join(work.path, '.sluice/api-key')
    await writeFile(secret, 'another\n', { mode: 0o644 })
    const env = { ...lab.env, ...trust(lab, work.path) }
    const refused = await sluiceHere(['init'], { cwd: work.path, env })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('.sluice/api-key: exists with other contents. To replace it, pass --force')
    expect(await readFile(secret, 'utf8')).toBe('another\n')
    expect((await sluiceHere(['init', '--force'], { cwd: work.path, env })).code).toBe(0)
    expect(await readFile(secret, 'utf8')).toBe(`${lab.line.cluster.apiKey}\n`)
    expect(await modeOf(secret)).toBe(0o600)
  })

  test('does not follow a folder of secrets that leads elsewhere', async () => {
    await using lab = await start()
    await using work = await folder()
    await using other = await folder()
    await symlink(other.path, join(work.path, '.sluice'))
    const { code, stderr } = await sluiceHere(['init'], {
      cwd: work.path,
      env: { ...lab.env, ...trust(lab, work.path) },
    })
    expect(code).toBe(2)
    expect(stderr).toContain('.sluice: is not a folder')
    expect(await files(other.path)).toEqual([])
  })
})
