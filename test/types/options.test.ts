/** Every option of the command reaches the library, unless its row says that it does not, and the library has no other ones. */
import { expect, expectTypeOf, test } from 'vitest'
import type {
  ConnectOptions,
  IngestOptions,
  ProxyOptions,
  ReplayOptions,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from '../../src/index.js'
import {
  checksAt,
  describeOption,
  optionAs,
  type OptionName,
  type Settings,
  optionNames,
} from '../../src/options/describe-option.js'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import type { ServeOptions } from '../../src/programs/serve/serve-options.js'
import { type table } from '../../src/options/table.js'

type Row<K extends OptionName> = (typeof table)[K]

/** The name of an option in the library. */
type PlaceOf<K extends OptionName> =
  Row<K> extends { readonly as: false } ? never : Row<K> extends { readonly as: infer A extends string } ? A : K

type SectionOf<K extends OptionName> = Row<K> extends { readonly section: infer S extends string } ? S : ''

/** Options of the table in one section of the library's, with the types of their values. */
type At<S extends string> = {
  readonly [K in OptionName as SectionOf<K> extends S ? PlaceOf<K> : never]: Exclude<Settings[K], undefined>
}

/** Options of a program for which a command has no flag. */
type OfTheProgram = 'source' | 'stdin' | 'signal' | 'startedAt' | 'onEvent' | 'refreshCredentials'
type Sections = 'target' | 'proxy' | 'servicenow' | 'table' | 'csv' | 'remote' | 'from' | 'edits'
/** JSON, or files of it, on the command line. Objects in the library. */
type Contents = 'indexBody' | 'checkQuery' | 'mapping' | 'template'

/** Names options whose setting does not fit the library's type. */
type Unfit<Library, Table> = {
  [K in keyof Table & keyof Library]: Table[K] extends Library[K] ? never : K
}[keyof Table & keyof Library]

test('the library and the table have the same options', () => {
  expectTypeOf<keyof At<''>>().toEqualTypeOf<Exclude<keyof IngestOptions, OfTheProgram | Sections>>()
  expectTypeOf<keyof At<'target'>>().toEqualTypeOf<keyof TargetOptions>()
  expectTypeOf<keyof At<'proxy'>>().toEqualTypeOf<Exclude<keyof ProxyOptions, 'origin' | 'environmentOrigin'>>()
  expectTypeOf<keyof At<'servicenow'>>().toEqualTypeOf<keyof ServiceNowOptions>()
  expectTypeOf<keyof At<'table'>>().toEqualTypeOf<keyof TableOptions>()
  expectTypeOf<keyof At<'remote'>>().toEqualTypeOf<keyof NonNullable<IngestOptions['remote']>>()
  expectTypeOf<keyof At<'from'>>().toEqualTypeOf<keyof NonNullable<IngestOptions['from']>>()
  expectTypeOf<keyof At<'csv'>>().toEqualTypeOf<keyof NonNullable<IngestOptions['csv']>>()
  expectTypeOf<keyof At<'edits'>>().toEqualTypeOf<keyof NonNullable<IngestOptions['edits']>>()
  expectTypeOf<Exclude<keyof At<'serve'>, keyof ServeOptions>>().toBeNever()
  expectTypeOf<Exclude<keyof At<'doctor'>, keyof DoctorOptions>>().toBeNever()
})

test('their types agree, and ingest takes what connect takes', () => {
  expectTypeOf<Unfit<Required<Omit<IngestOptions, Contents>>, At<''>>>().toBeNever()
  expectTypeOf<Unfit<Required<TargetOptions>, At<'target'>>>().toBeNever()
  expectTypeOf<Unfit<Required<ProxyOptions>, At<'proxy'>>>().toBeNever()
  expectTypeOf<Unfit<Required<ServiceNowOptions>, At<'servicenow'>>>().toBeNever()
  // On the command line these are text with commas.
  expectTypeOf<Unfit<Required<Omit<TableOptions, 'fields'>>, At<'table'>>>().toBeNever()
  expectTypeOf<Unfit<Required<NonNullable<IngestOptions['edits']>>, At<'edits'>>>().toBeNever()
  expectTypeOf<Unfit<Required<NonNullable<IngestOptions['csv']>>, At<'csv'>>>().toBeNever()
  expectTypeOf<IngestOptions>().toExtend<ConnectOptions>()
})

type TakenBy<C extends string> = {
  [K in OptionName]: C extends Row<K>['commands'][number] ? PlaceOf<K> : never
}[OptionName]
type Refused = {
  [K in OptionName]: Row<K> extends { readonly notInReplay: string }
    ? SectionOf<K> extends ''
      ? PlaceOf<K>
      : SectionOf<K>
    : never
}[OptionName]

test('a replay refuses what its type does not have', () => {
  expectTypeOf<Exclude<Refused, TakenBy<'replay'>>>().toEqualTypeOf<Exclude<keyof IngestOptions, keyof ReplayOptions>>()
})

test('the table checks what a program passes in each part of the library options, under the names that messages know', () => {
  const placed = optionNames.map(describeOption).filter(({ place }) => place !== undefined)
  expect(placed.length).toBeGreaterThan(100)
  for (const { name, place = { section: '', name: '' } } of placed) {
    expect(Object.keys(checksAt(place.section))).toContain(place.name)
    expect(optionAs(place.section === '' ? place.name : `${place.section}.${place.name}`)).toBe(name)
  }
})

test('an option that makes other documents goes to the queue, and what workers refuse has a reason', () => {
  for (const { name, queued, secret, notByWorkers } of optionNames.map(describeOption)) {
    if (secret !== undefined) expect([name, queued]).toEqual([name, undefined])
    if (notByWorkers !== undefined) expect(notByWorkers).toMatch(/^[a-z].*[^.]$/)
  }
})

test('rows name only options, and none forbids itself', () => {
  const known: readonly string[] = optionNames
  for (const { name, orElse, alsoNeeds = [], needs = {}, excludes = {} } of optionNames.map(describeOption)) {
    const named = [orElse ?? name, ...alsoNeeds, ...Object.keys(needs), ...Object.keys(excludes)]
    expect(named.filter(one => !known.includes(one))).toEqual([])
    expect(Object.keys(excludes)).not.toContain(name)
  }
})
