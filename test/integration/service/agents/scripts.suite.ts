import { describe, expect, it } from 'vitest';
import { unlimited } from '../../../../src/service/accounts/allowance.ts';
import { createSnippets } from '../../../../src/service/snippets/snippets.ts';
import type { AgentFixture } from '../../../support/service/agent-fixture.ts';

const API = { checkType: 'API', request: { url: 'https://shop.example/' } };

/** The scripts that agents get. */
export function scriptsSuite(fixtureOf: () => AgentFixture): void {
  const snippetsOf = ({ store, clock }: AgentFixture) =>
    createSnippets({ store, clock, allowance: unlimited });

  describe('scripts', () => {
    it('of a group and of snippets reach agents, also when they change', async () => {
      const fixture = fixtureOf();
      const { accountId } = fixture;
      const snippets = snippetsOf(fixture);
      const { id: setupSnippetId } = await snippets.create(accountId, {
        name: 'sign',
        script: 'sign(1)',
      });
      const group = await fixture.groups.create(accountId, {
        name: 'Shop',
        setupScript: 'login(1)',
        teardownScript: 'logout()',
      });
      await fixture.addCheck('both', { ...API, groupId: group.id, setupSnippetId });
      await fixture.addCheck('none', API);
      await fixture.addCheck('own', { ...API, setupScript: 'mine()' });
      const agent = fixture.agent('agent-a');
      await agent.look();
      await fixture.assigner.pass();
      await agent.look();
      const scriptsOf = (id: string) => agent.checks.get(id)?.scripts;
      const teardown = [{ owner: 'group', source: 'logout()' }];
      expect(scriptsOf('both')).toEqual({
        setup: [
          { owner: 'group', source: 'login(1)' },
          { owner: 'check', source: 'sign(1)' },
        ],
        teardown,
      });
      expect(scriptsOf('none')).toBeNull();
      expect(scriptsOf('own')).toBeNull();
      expect(agent.checks.get('own')?.check).toMatchObject({ setupScript: 'mine()' });

      await snippets.update({ accountId, id: setupSnippetId }, { script: 'sign(2)' });
      await fixture.assigner.pass();
      expect((await agent.look()).upsert.map(({ checkId }) => checkId)).toEqual(['both']);
      await fixture.groups.update({ accountId, id: group.id }, { setupScript: 'login(2)' });
      await fixture.assigner.pass();
      await agent.look();
      expect(scriptsOf('both')).toEqual({
        setup: [
          { owner: 'group', source: 'login(2)' },
          { owner: 'check', source: 'sign(2)' },
        ],
        teardown,
      });

      await fixture.groups.remove({ accountId, id: group.id });
      await fixture.assigner.pass();
      await agent.look();
      expect(scriptsOf('both')).toEqual({
        setup: [{ owner: 'check', source: 'sign(2)' }],
        teardown: [],
      });
    });

    it('of a check or of its group keep it from agents that do not know scripts', async () => {
      const fixture = fixtureOf();
      const { id: groupId } = await fixture.groups.create(fixture.accountId, {
        name: 'Shop',
        setupScript: 'login()',
      });
      await fixture.addCheck('plain', API);
      await fixture.addCheck('scripted', { ...API, teardownScript: 'clean()' });
      await fixture.addCheck('grouped', { ...API, groupId });
      await fixture.addCheck('ssh', { groupId });
      const old = fixture.agent('agent-a', { capabilities: { features: [] } });
      await old.look();
      await fixture.assigner.pass();
      await old.look();
      expect(old.ids).toEqual(['plain', 'ssh']);
    });

    it('of snippets must exist, and cannot be deleted while they run', async () => {
      const fixture = fixtureOf();
      const { accountId } = fixture;
      const snippets = snippetsOf(fixture);
      const { id } = await snippets.create(accountId, { name: 'clean', script: 'clean()' });
      await expect(
        fixture.addCheck('broken', { ...API, setupSnippetId: id + 1 }),
      ).rejects.toMatchObject({ status: 400 });
      await fixture.addCheck('tidy', { ...API, teardownSnippetId: id });
      await expect(snippets.remove({ accountId, id })).rejects.toMatchObject({
        status: 409,
        message: 'The snippet runs in the check "tidy": remove it there first',
      });
      await expect(
        snippets.update({ accountId, id }, { script: 'x'.repeat(100_001) }),
      ).rejects.toMatchObject({ status: 400 });
      await fixture.checks.remove({ accountId, id: 'tidy' });
      await snippets.remove({ accountId, id });
    });
  });
}
