// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureCodes } from '../../src/base/failure/failure.js'
import { mendInstance } from '../contracts/instance-world.js'
import { type LabWorld, startLabWorld } from '../contracts/lab-world.js'
import { alike } from '../diagnosis/alike.js'
import { describeCauses, describeSection } from '../diagnosis/describe-causes.js'
import { notPlanted } from '../diagnosis/not-planted.js'
import {
  inLab,
  isOnPart,
  onServers,
  plantedFor,
  renderAlike,
  renderCodes,
  renderContract,
  renderOverview,
} from '../diagnosis/overview.js'
import { sharedCauses } from '../diagnosis/shared-causes.js'
import { contractErrors } from '../support/facts/contract-errors.js'

describe('in the lab', () => {
  let world: LabWorld
  beforeAll(async () => {
    world = await startLabWorld({ managed: true })
  })
  afterAll(async () => await world[Symbol.asyncDispose]())
  describeCauses<LabWorld>(() => world, {
    causes: inLab,
    mend: async ({ lab }) => {
      const { control } = lab
      mendInstance(lab)
      control.heal()
      control.setFilterBody('long')
      control.register('both')
    },
    // The tests on real servers plant the others.
    isPlanted: cause => !isOnPart(cause) || !sharedCauses.includes(cause),
    section: { name: 'lab', isReal: false, about: 'Sluice’s own lab plays proxy, filter and cluster.' },
  })
})

describe('a planted fault', () => {
  test('is told apart by its words', () => {
    for (const causes of [inLab, onServers]) {
      const words = causes.map(({ planted }) => planted)
      expect(words.filter((one, at) => words.indexOf(one) !== at)).toEqual([])
    }
  })

  test('is enough: 45 causes, 25 of them on real parts', () => {
    const isReal = (on: string) => ['Squid', 'microsocks', 'nginx', 'Elasticsearch'].includes(on)
    expect(inLab.filter(({ expected }) => expected !== 'nothing').length).toBeGreaterThanOrEqual(45)
    const real = onServers.filter(({ on, expected }) => expected !== 'nothing' && isReal(on))
    expect(real.length).toBeGreaterThanOrEqual(25)
  })

  test('stands for every failure, but for those whose reason is said', () => {
    const left = failureCodes.filter(code => plantedFor(code).lab === 0 && plantedFor(code).real === 0)
    expect(
      left.filter(code => notPlanted[code] === undefined),
      'plant a cause, or say why not in test/diagnosis/not-planted.ts',
    ).toEqual([])
    const needless = Object.keys(notPlanted).filter(code => !left.some(one => one === code))
    expect(needless).toEqual([])
  })

  test.each(contractErrors.filter(({ codes }) => codes.length > 0))('stands for the row: $row', ({ codes }) => {
    expect(codes.filter(code => plantedFor(code).lab === 0)).toEqual([])
  })

  test('has at least one cause for each class of causes that look alike', () => {
    const used = new Set([...inLab, ...onServers].map(cause => cause.alike))
    expect(Object.keys(alike).filter(name => ![...used].some(one => one === name))).toEqual([])
  })
})

describeSection('overview', renderOverview)
describeSection('alike', renderAlike)
describeSection('contract', renderContract)
describeSection('codes', renderCodes)
