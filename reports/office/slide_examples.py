"""Writes a worked example below the table that it explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.view_model import (
    FormulaView,
    TableView,
)
from benchbrief.reports.office.rich_text import Paragraph, Run, runs_of
from benchbrief.reports.office.slide_blocks import BlockWriter, sources_of, texts_below
from benchbrief.reports.office.slide_look import AIR, LINE_LESS, READ_PT
from benchbrief.reports.office.slide_masters import (
    LEAST_PT,
    Area,
    title_size,
)
from benchbrief.reports.office.slide_parts import (
    height_of_all,
)
from benchbrief.reports.office.slide_tables import height_within
from benchbrief.reports.office.slide_texts import said_in
from benchbrief.reports.office.table_grid import grid_of
from benchbrief.reports.view.arrange_elements import Slide


@dataclass
class ExampleWriter(BlockWriter):
    """Writes slides with a table and an example of how its numbers are computed."""

    def with_examples(self, slides: Sequence[Slide]) -> list[Slide]:
        """Return the slides. If a slide has room for both, a worked example is moved below the table before it."""
        found: list[Slide] = []
        for slide in slides:
            match (found[-1:], slide.blocks):
                case (
                    [Slide(texts=(), blocks=(TableView() as table, *others), after=after) as before],
                    (FormulaView() as formula,),
                ) if bool(after) <= bool(others) and not (others and slide.texts):
                    formulas = [*(each for each in others if isinstance(each, FormulaView)), formula]
                    texts = after + slide.texts
                    said = [
                        *said_in(texts),
                        *texts_below(table),
                        *(line for each in formulas for line in texts_below(each)),
                    ]
                    said += [line for each in formulas for line in self.example_of(each)]
                    free = self.content.height - height_of_all(said, self.content.width, READ_PT) - 4 * AIR - 24.0
                    lines = self.lines_at(before.head, self.content, title_size(self.masters.others))
                    free += LINE_LESS * (lines == 1)
                    if self.ink and not slide.after and height_within(grid_of(table), self.content) <= free:
                        found[-1] = replace(before, blocks=(*before.blocks, formula), after=texts)
                        continue
            found.append(slide)
        return found

    def example_of(self, formula: FormulaView) -> list[Paragraph]:
        """Return a worked example in two lines."""
        *steps, last = formula.steps
        steps.append(Markup("<b>{}</b>").format(last))
        title = Markup("<b>{}{}{}</b>").format(self.words["formula"], self.words["colon"], formula.title)
        return [Paragraph(runs_of(title, formula.marks)), Paragraph((Run("= "), *runs_of(Markup(" = ").join(steps))))]

    def write_with_examples(
        self, head: Markup, table: TableView, formulas: Sequence[FormulaView], said: list[Paragraph]
    ) -> None:
        """Write a table. Below it, write the texts (`said`) that belong to it and, in a box, worked examples."""
        example, whole = [line for each in formulas for line in self.example_of(each)], self.content
        own = height_of_all(example, whole.width - 40, READ_PT) + 24
        notes = [line for each in formulas for line in texts_below(each)]
        height = own + height_of_all(said, whole.width, READ_PT) + height_of_all(notes, whole.width, LEAST_PT) + 2 * AIR
        self.write_block(head, table, [], [], tuple(formulas), spare=height + AIR, of_tables=READ_PT)
        area = replace(whole, top=whole.bottom - height, height=height)
        self.put(said, area, READ_PT)
        box = replace(area.below(height_of_all(said, whole.width, READ_PT) + AIR), height=own)
        self.add_ground(box)
        self.put(example, Area(box.left + 20, box.top + 12, box.width - 40, own - 24), READ_PT)
        self.put(notes, area.below(height - height_of_all(notes, whole.width, LEAST_PT)), LEAST_PT)
        self.sources += [source.expression for each in formulas for source in sources_of(each)]
