"""What a chat template reads, found in its syntax tree. For the process in which templates are read (model_process)."""

from __future__ import annotations

import jinja2.ext
from jinja2 import TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.generation.formats.speech import TemplateNames


class _Generation(Extension):
    """The tag {% generation %}, with which templates tell trainers what the assistant said."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


def read_by(template: str) -> TemplateNames:
    """Nothing for a template that is none; that is said where it is used."""
    around = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols]
    )
    try:
        tree = around.parse(template)
    except (TemplateSyntaxError, RecursionError):
        return TemplateNames()
    fields = {node.attr for node in tree.find_all(nodes.Getattr)}
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.arg, nodes.Const):
            fields.add(str(item.arg.value))
    for call in tree.find_all(nodes.Call):  # message.get("reasoning")
        if isinstance(call.node, nodes.Getattr) and call.node.attr == "get" and call.args:
            fields.update(str(a.value) for a in call.args[:1] if isinstance(a, nodes.Const))
    return TemplateNames(frozenset(meta.find_undeclared_variables(tree)), frozenset(fields))
