import { describe, expect, it } from 'vitest';
import { PLAN_LIMITS, planOf, plansSchema, UNLIMITED } from '../../../../src/model/account/plan.ts';
import { LOCATIONS } from '../../../../src/model/enums.ts';
import { createAllowance, type LimitedCheck } from '../../../../src/service/accounts/allowance.ts';
import { type AccountUse, entitlementsOf } from '../../../../src/service/accounts/entitlements.ts';
import type { ServiceError } from '../../../../src/service/errors.ts';

const PLANS = plansSchema.parse({
  plans: {
    hobby: {
      displayName: 'Hobby',
      limits: { checks: 5, statusPages: 0 },
      features: { subMinuteChecks: false },
      maxLocationsPerCheck: 2,
      locations: ['eu-west-1'],
    },
    team: { displayName: 'Team', limits: { checks: 50 }, features: { subMinuteChecks: false } },
    everything: { displayName: 'Everything' },
  },
  default: 'hobby',
  accounts: { big: 'everything' },
});

/** Seven of each resource. */
const USE: AccountUse = {
  privateLocations: [],
  counts: Object.fromEntries(
    Object.keys(PLAN_LIMITS).map((key) => [key, 7]),
  ) as AccountUse['counts'],
};

const byKey = (accountId: string) =>
  new Map(entitlementsOf(PLANS, accountId, USE).entitlements.map((each) => [each.key, each]));

describe('what an account may have', () => {
  it('is everything without a limit', () => {
    const { plan, locations, entitlements, addons } = entitlementsOf(UNLIMITED, 'any', USE);
    expect(plan).toBe('unlimited');
    expect(locations.all.map(({ id }) => id)).toEqual([...LOCATIONS]);
    expect(entitlements.length).toBeGreaterThan(10);
    expect(entitlements.filter(({ enabled }) => !enabled)).toEqual([]);
    expect(entitlements.filter((each) => 'quantity' in each || 'requiredPlan' in each)).toEqual([]);
    expect(Object.keys(addons)).toEqual(['communicate', 'resolve']);
  });

  it('is what its plan allows, with the plan that allows more', () => {
    const own = byKey('small');
    expect(own.get('checks')).toMatchObject({
      type: 'metered',
      enabled: true,
      quantity: 5,
      used: 7,
      requiredPlan: 'team',
      requiredPlanDisplayName: 'Team',
    });
    expect(own.get('statusPages')).toMatchObject({ enabled: false, quantity: 0 });
    expect(own.get('subMinuteChecks')).toMatchObject({
      type: 'flag',
      enabled: false,
      requiredPlan: 'everything',
    });
    expect(own.get('subMinuteChecks')).not.toHaveProperty('used');
    expect(own.get('snippets')).not.toHaveProperty('quantity');
    expect(own.get('snippets')).toMatchObject({ used: 7 });
    expect(entitlementsOf(PLANS, 'small', USE).locations.maxPerCheck).toBe(2);
    expect(byKey('big').get('checks')).not.toHaveProperty('quantity');
  });
});

it('a location is available only if something runs there', () => {
  const { locations } = entitlementsOf(UNLIMITED, 'any', {
    ...USE,
    privateLocations: [
      { slug: 'office', name: 'The office', hasAgent: true },
      { slug: 'cellar', name: 'The cellar', hasAgent: false },
    ],
  });
  expect(locations.all.slice(LOCATIONS.length)).toEqual([
    { id: 'office', name: 'The office', available: true },
    { id: 'cellar', name: 'The cellar', available: false },
  ]);
  expect(locations.all.filter(({ available }) => available).map(({ id }) => id)).toEqual([
    'office',
  ]);
});

describe('a check', () => {
  const check: LimitedCheck = {
    checkType: 'API',
    frequency: 1,
    frequencyOffset: null,
    runParallel: false,
    locations: ['eu-west-1'],
    privateLocations: ['cellar'],
  };
  const admit = (accountId: string, fields: Partial<LimitedCheck>) => () =>
    createAllowance(PLANS).admitCheck(accountId, { ...check, ...fields }, null);
  const often = { frequency: 0, frequencyOffset: 10 } as const;

  it('is admitted if its plan has all that it needs', () => {
    expect(admit('small', {})).not.toThrow();
    expect(admit('big', { ...often, privateLocations: ['a', 'b', 'c'] })).not.toThrow();
  });

  it.each([
    [often, /^The plan Hobby does not allow it: .*10, 20 or 30 seconds/],
    [{ locations: ['us-east-1'] }, /the location us-east-1 is not in it/],
    [{ privateLocations: ['a', 'b'] }, /locations of a check: 2 at most/],
  ])('is refused with %j', (fields, message) => {
    expect(admit('small', fields)).toThrow(message);
  });

  const refusal = (fields: Partial<LimitedCheck>, allowsSubMinute: boolean) => {
    try {
      const allowance = createAllowance(PLANS, allowsSubMinute);
      allowance.admitCheck('big', { ...check, ...fields }, null);
      return null;
    } catch (thrown) {
      return (thrown as ServiceError).message;
    }
  };

  it.each(['URL', 'DNS', 'ICMP'] as const)(
    'of type %s runs every few seconds only if the operator allows it',
    (checkType) => {
      expect(refusal({ ...often, checkType }, false)).toContain('ALLOW_SUBMINUTE=on');
      expect(refusal({ ...often, checkType }, true)).toBeNull();
      const stored: LimitedCheck = { ...check, ...often, checkType };
      const change = () => createAllowance(PLANS).admitCheck('big', stored, stored);
      expect(change).not.toThrow();
    },
  );

  it('runs every 15 seconds in no service', () => {
    for (const allowsSubMinute of [false, true]) {
      expect(refusal({ ...often, frequencyOffset: 15 }, allowsSubMinute)).toContain(
        '15 is only for check files without a service',
      );
    }
  });
});

describe('a check from a larger plan', () => {
  const before: LimitedCheck = {
    checkType: 'TCP',
    frequency: 0,
    frequencyOffset: 30,
    runParallel: true,
    locations: ['us-east-1', 'us-west-1'],
    privateLocations: ['cellar'],
  };
  const change = (fields: Partial<LimitedCheck>) => () =>
    createAllowance(PLANS).admitCheck('small', { ...before, ...fields }, before);

  it.each<[Partial<LimitedCheck>]>([
    [{}],
    [{ frequency: 5, frequencyOffset: null }],
    [{ locations: ['us-west-1'] }],
    [{ locations: ['eu-west-1', 'us-west-1'] }],
    [{ locations: [], privateLocations: ['a', 'b', 'c'] }],
  ])('can be changed by %j', (fields) => {
    expect(change(fields)).not.toThrow();
  });

  it.each([
    [{ locations: ['us-east-1', 'us-west-1', 'eu-west-1'] }, /2 at most/],
    [{ locations: ['us-east-1', 'us-east-2'] }, /the location us-east-2 is not in it/],
  ])('cannot be extended by %j', (fields, message) => {
    expect(change(fields)).toThrow(message);
  });

  it('that gave something up does not get it back', () => {
    const slow: LimitedCheck = { ...before, frequency: 1, frequencyOffset: null, locations: [] };
    const { admitCheck } = createAllowance(PLANS);
    expect(() => admitCheck('small', { ...slow, frequency: 0, frequencyOffset: 10 }, slow)).toThrow(
      /10, 20 or 30/,
    );
    expect(() => admitCheck('small', before, slow)).toThrow(/10, 20 or 30/);
  });
});

describe('a file of plans', () => {
  it('does not mistake properties of every object for an account or a plan', () => {
    expect(planOf(PLANS, 'constructor').name).toBe('hobby');
    const plans = { small: { displayName: 'Small' } };
    expect(plansSchema.safeParse({ plans, default: 'toString' }).success).toBe(false);
  });

  it('names only plans that are in it', () => {
    const plans = { small: { displayName: 'Small' } };
    const { error } = plansSchema.safeParse({ plans, default: 'smal', accounts: { a: 'big' } });
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['default', 'accounts.a']);
  });
});
