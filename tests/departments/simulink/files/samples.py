"""Files as Simulink's releases write them, made for these tests."""

from __future__ import annotations

from chatdev.departments.simulink.files.package import Package, relationships

CLASSIC = r'''# a comment
Model {
  Name			  "plant"
  Version		  7.6
  SavedCharacterEncoding  "windows-1252"
  StopTime "25"
  ScreenColor "white"
  PreLoadFcn "K = 2*pi;\nT = K/2;\n"
  BlockParameterDefaults {
    Block {
      BlockType		      Gain
      Gain		      "3"
      Multiplication "Element-wise(K.*u)"
    }
  }
  System {
    Name		    "plant"
    Location		    [1, 2,
       3, 4]
    Block {
      BlockType		      Step
      Name		      "Start\nat \"one\" o"
      "'clock"
      Position		      [30, 40, 60, 70]
      SampleTime "0"
    }
    Block {
      BlockType Gain
      Name "Größe"
      Ports [1, 1]
      Position [100, 40, 130, 70]
      Orientation "left"
    }
    Block {
      BlockType Mux
      Name "Mux"
    }
    Block {
      BlockType Reference
      Name "XY"
      SourceBlock "simulink3/Sinks/XY Graph"
      SourceType "XY scope."
      xmin "-5"
    }
    Block {
      BlockType FancyBlock
      Name "Fancy"
      Power "2"
      FontName "Arial"
    }
    Block {
      BlockType SubSystem
      Name "Sub"
      MaskVariables "a=@1;b=&2;"
      MaskValueString "K/3|text"
      System {
        Name "Sub"
        Block {
          BlockType Inport
          Name "u"
        }
        Block {
          BlockType TriggerPort
          Name "Trigger"
        }
        Block {
          BlockType Outport
          Name "y"
        }
        Line {
          SrcBlock "u"
          SrcPort 1
          DstBlock "y"
          DstPort 1
        }
      }
    }
    Line {
      SrcBlock "Start\nat \"one\" o'clock"
      SrcPort 1
      Points [10, 0]
      Branch {
        Points [0, 10]
        DstBlock "Größe"
        DstPort 1
      }
      Branch {
        Branch {
          DstBlock "Mux"
          DstPort 2
        }
        Branch {
          DstBlock "Sub"
          DstPort trigger
        }
      }
    }
    Line {
      SrcBlock "Mux"
      SrcPort 1
    }
    Annotation {
      Name "look here"
      Position [1, 2]
    }
  }
}
Stateflow {
  machine {
    id 1
    name "plant"
  }
}
'''

_ROOT = """<?xml version="1.0" encoding="utf-8"?>
<System>
  <P Name="SIDHighWatermark">7</P>
  <Block BlockType="Constant" Name="Source" SID="3">
    <P Name="Position">[10, 20, 40, 50]</P>
    <P Name="BackgroundColor">yellow</P>
  </Block>
  <Block BlockType="Gain" Name="Gain" SID="7">
    <PortCounts in="1" out="1"/>
    <P Name="Position">[100, 20, 130, 50]</P>
    <P Name="SaturateOnIntegerOverflow">on</P>
    <P Name="Strange">kept</P>
  </Block>
  <Block BlockType="SubSystem" Name="Chart" SID="4">
    <P Name="SFBlockType">Chart</P>
    <System Ref="system_4"/>
  </Block>
  <Line>
    <P Name="Name">speed</P>
    <P Name="Src">3#out:1</P>
    <P Name="Points">[10, 0]</P>
    <P Name="Dst">7#in:1</P>
  </Line>
  <Annotation SID="5"><P Name="Name">look here</P></Annotation>
</System>
"""
_MAIN = """<?xml version="1.0" encoding="utf-8"?>
<ModelInformation Version="1.0"><Model><P Name="ModelUUID">1-2</P><System Ref="system_root"/></Model></ModelInformation>
"""
_MATHWORKS = "http://schemas.mathworks.com/simulink/2010/relationships"
PACKAGE = Package({
    "metadata/thumbnail.png": b"\x89PNG\r\n\x1a\n\0\1\2__MWOPC_PART_BEGIN__ /x\n",
    "_rels/.rels": relationships({"blockDiagram": ("simulink/blockdiagram.xml", f"{_MATHWORKS}/blockDiagram")}),
    "simulink/blockdiagram.xml": _MAIN.encode(),
    "simulink/_rels/blockdiagram.xml.rels": relationships({
        "system_root": ("systems/system_root.xml", f"{_MATHWORKS}/system"),
        "system_4": ("systems/system_4.xml", f"{_MATHWORKS}/system")}),
    "simulink/systems/system_root.xml": _ROOT.encode(),
    "simulink/systems/system_4.xml": b"<System><Block BlockType='S-Function' Name=' SFunction ' SID='4::1'/></System>",
    "simulink/stateflow.xml": b"<Stateflow><machine id='1'><Children><chart id='2'/></Children></machine></Stateflow>"})
"""A model with what is not understood: colours, a chart, an annotation, a picture."""
